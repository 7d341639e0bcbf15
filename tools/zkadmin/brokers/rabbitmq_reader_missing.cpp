// Stands for rabbitmq_reader.cpp where there is no rabbitmq-c.
#include <stdexcept>

#include "brokers/broker_reader.hpp"

namespace zkadmin {

boost::asio::awaitable<zkrecipes::error_code> read_rabbitmq(zkrecipes::session, const broker_place&,
                                                            const stream_status&, broker_status&) {
  throw std::invalid_argument("this zkadmin was built without RabbitMQ. On Debian 12: apt-get install librabbitmq-dev");
}

bool is_rabbitmq_away(const zkrecipes::error_code&) noexcept { return false; }

}  // namespace zkadmin
