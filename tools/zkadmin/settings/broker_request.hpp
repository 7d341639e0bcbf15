// The broker that a command is to ask, and why it can not be used, as the log of the session that asks it says.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/log.hpp>
#include <zkrecipes/tls_options.hpp>

namespace zkadmin {

/// An operation waits for a broker that is away, and its error does not tell why it is.
class broker_log {
 public:
  /// Keeps the last failure of each address of a broker, until that takes a connection; one of TLS for which there is
  /// an option rather than a later one. Other events are left out.
  void record(const zkrecipes::log_event& told);
  void forget() noexcept { failures_.clear(); }
  /// "redis 10.0.0.1:6379: Connection refused". If TLS is the reason the option that helps stands behind it. Empty:
  /// nothing has failed.
  std::string reasons() const;

 private:
  std::map<std::string, std::string, std::less<>> failures_;  // by kind and address
};

/// The options of secure connections to a broker, as the command line has it. An empty text stands for what
/// `tls_options` has by default.
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
