// Stands for redis_reader.cpp where there is no hiredis.
#include <stdexcept>

#include "brokers/broker_reader.hpp"

namespace zkadmin {

boost::asio::awaitable<zkrecipes::error_code> read_redis(zkrecipes::session, const broker_place&, const stream_status&,
                                                         broker_status&) {
  throw std::invalid_argument("this zkadmin was built without Redis. On Debian 12: apt-get install libhiredis-dev");
}

bool is_redis_away(const zkrecipes::error_code&) noexcept { return false; }

}  // namespace zkadmin
