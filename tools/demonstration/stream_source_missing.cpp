// Stands for stream_source.cpp where there is no hiredis.
#include <stdexcept>

#include "put_all.hpp"
#include "shard_source.hpp"

namespace demo {

namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument("--source redis: built without it. On Debian 12: apt-get install libhiredis-dev");
}

}  // namespace

shard_source_ptr make_stream_source(const zkrecipes::session&, std::uint32_t, const std::string&) { refuse(); }

boost::asio::awaitable<void> put_into_streams(zkrecipes::session, const producer_settings&, const workload&) {
  refuse();
}

}  // namespace demo
