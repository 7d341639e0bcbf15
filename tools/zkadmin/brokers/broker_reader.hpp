// The broker that a command is to ask, and how much waits there for a source.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/log.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/tls_options.hpp>

#include "cluster/collector.hpp"
#include "cluster/stream.hpp"
#include "settings/command_line.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

// The broker that a command is to ask, and why it can not be used, as the log of the session that asks it says.

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

/// Nothing: plain text. The files are read once, so that one that is of no use is refused before anything is asked.
/// Throws `failure` (usage) that names the option.
std::optional<zkrecipes::tls_options> tls_of(const broker_tls_request& asked);

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

/// The same settings. A session that is made with them tells why the broker can not be reached.
settings with_log_of(const broker_place& place, settings wanted);

/// Fills in the `broker` of the source: also that it is away, or refuses. A source that is neither Redis' nor
/// RabbitMQ's is left as it is. `session`: its settings are `with_log_of` the place. Throws `failure` (usage) if the
/// place is none.
boost::asio::awaitable<void> ask_broker(zkrecipes::session session, broker_place place, stream_status& of);

/// As the next two: the error of the broker, or of ZooKeeper. `into` has the depths that were read.
using broker_reader = boost::asio::awaitable<zkrecipes::error_code> (*)(zkrecipes::session, const broker_place&,
                                                                        const stream_status&, broker_status& into);

/// Throw std::invalid_argument if the place is none, or if zkadmin was built without the component.
boost::asio::awaitable<zkrecipes::error_code> read_redis(zkrecipes::session session, const broker_place& place,
                                                         const stream_status& of, broker_status& into);
boost::asio::awaitable<zkrecipes::error_code> read_rabbitmq(zkrecipes::session session, const broker_place& place,
                                                            const stream_status& of, broker_status& into);

/// Whether the broker can not be reached, or does not answer.
bool is_redis_away(const zkrecipes::error_code& error) noexcept;
bool is_rabbitmq_away(const zkrecipes::error_code& error) noexcept;

}  // namespace zkadmin
