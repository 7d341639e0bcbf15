// Puts one message into a queue, outside of any producer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rabbitmq/rabbit_connection.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// On the strand, with a connection of its own.
class lone_put {
 public:
  struct message {
    std::string queue;
    std::string id;
    std::string key;
    std::string data;
  };

  lone_put(rabbit_frame_ptr frame, message what);

  /// Puts it once. A message that the broker rejects is put again, until this time. Errors: `outcome_unknown` (no
  /// answer), `missing_queue`, `operation_aborted`, and those of `broker_connection::ready`.
  awaitable<error_code> run(lease_clock::time_point until);

 private:
  bool send();
  void note(const error_code& what);
  awaitable<error_code> answer();

  rabbit_frame_ptr frame_;
  message what_;
  rabbit_connection broker_;
  condition arrived_;
  std::optional<error_code> answer_;
};

}  // namespace zkrecipes::detail
