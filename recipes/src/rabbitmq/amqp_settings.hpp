#pragma once

#include <chrono>
#include <string>

namespace zkrecipes::detail {

/// What a connection to RabbitMQ begins with.
struct amqp_settings {
  std::string user{};
  std::string password{};
  std::string virtual_host = "/";
  std::chrono::seconds heartbeat{10};  ///< Time after which a side that is silent is lost; 1 s to 10 min.
  std::string key_header = "key";      ///< The header of a message that has its key.
};

}  // namespace zkrecipes::detail
