// Stands for stream_source.cpp where there is no hiredis.
#include "put_all.hpp"
#include "shard_source.hpp"

namespace demo {

shard_source_ptr make_stream_source(const zkrecipes::session&, std::uint32_t, const std::string&) {
  refuse_source(source_kind::redis, "libhiredis-dev");
}

boost::asio::awaitable<void> put_into_streams(zkrecipes::session, const producer_settings&, const workload&) {
  refuse_source(source_kind::redis, "libhiredis-dev");
}

}  // namespace demo
