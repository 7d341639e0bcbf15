// The broker that a command is to ask.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace zkadmin {

/// As the command line has it.
struct broker_request {
  std::string address;           ///< host:port[,host:port...][/space]; empty: no broker is asked.
  std::string credentials_file;  ///< Empty: none.
};

/// A broker, and what to tell it.
struct broker_place {
  std::string hosts;
  std::string space{};  ///< A database of Redis, or a virtual host of RabbitMQ; empty: the first one.
  /// Those of Redis may have no user. Nothing: those that a broker has by default.
  std::optional<std::string> user{};
  std::string password{};
  std::chrono::milliseconds limit{2'500};  ///< For all that is asked of a broker about one source.
};

/// Nothing: none is to be asked. `timeout`: that of the whole command. Throws `failure` (usage).
std::optional<broker_place> place_of(const broker_request& asked, std::chrono::milliseconds timeout);

}  // namespace zkadmin
