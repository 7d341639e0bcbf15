// Stands for stream_records.cpp where there is no hiredis: the file of seeds is there in any case.
#include "fuzz/target.hpp"

namespace fuzz::stream_records_target {

const target known("stream_records", [](std::string_view) {});

}  // namespace fuzz::stream_records_target
