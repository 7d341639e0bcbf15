// The broker that a command is to ask.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/tls_options.hpp>

namespace zkadmin {

/// The options of secure connections to a broker.
/// As the command line has it. An empty text stands for what `tls_options` has by default.
struct broker_tls_request {
  bool is_wanted = false;  ///< One of the options was given.
  std::string authorities{};
  std::string certificate{};
  std::string key{};
  std::string server_name{};
};

/// Nothing: plain text. The files are read once, so that one that is of no use is refused before anything is asked.
/// Throws `failure` (usage) that names the option.
std::optional<zkrecipes::tls_options> tls_of(const broker_tls_request& asked);

class broker_log;

/// As the command line has it.
struct broker_request {
  std::string address;           ///< host:port[,host:port...][/space]; empty: no broker is asked.
  std::string credentials_file;  ///< Empty: none.
  broker_tls_request tls{};
};

/// A broker, and what to tell it.
struct broker_place {
  std::string hosts;
  std::string space{};  ///< A database of Redis, or a virtual host of RabbitMQ; empty: the first one.
  /// Those of Redis may have no user. Nothing: those that a broker has by default.
  std::optional<std::string> user{};
  std::string password{};
  std::optional<zkrecipes::tls_options> tls{};  ///< Nothing: plain text.
  /// What the log of the session says of it; never null in what `place_of` returns.
  std::shared_ptr<broker_log> log{};
  std::chrono::milliseconds limit{2'500};  ///< For all that is asked of a broker about one source.
  std::chrono::milliseconds share{1'250};  ///< For one address to connect, or to answer; a part of `limit`.
};

/// Nothing: none is to be asked. `timeout`: that of the whole command. Throws `failure` (usage).
std::optional<broker_place> place_of(const broker_request& asked, std::chrono::milliseconds timeout);

}  // namespace zkadmin
