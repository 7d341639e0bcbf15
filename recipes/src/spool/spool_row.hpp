// A message in the file of a spooled producer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zkrecipes::detail {

struct spool_row {
  std::uint64_t number = 0;
  std::string key{};
  std::string data{};
  std::uint64_t origin = 0;  ///< See `spool_origins`. 0: the file has none.
};

/// What a message counts for in the limits of the options.
inline std::size_t size_of(const spool_row& row) { return row.key.size() + row.data.size() + 64; }

/// The strand and the thread of the disk share rows. Nobody changes one while an operation of the disk has it.
using spool_row_ptr = std::shared_ptr<spool_row>;
using spool_rows = std::vector<spool_row_ptr>;

inline std::size_t size_of(const spool_rows& rows) {
  std::size_t all = 0;
  for (const auto& each : rows) all += size_of(*each);
  return all;
}

}  // namespace zkrecipes::detail
