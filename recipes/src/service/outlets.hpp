// Where messages from outside go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/service/configuration.hpp>
#include <zkrecipes/service/metrics_page.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace zkrecipes::service {

/// Puts messages exactly once, under the name of one producer.
class outlet {
 public:
  using result = std::tuple<zkrecipes::error_code, std::uint64_t>;

  virtual ~outlet() = default;

  /// Completes with the number of the message when it is there, or when it can not get lost any more.
  virtual boost::asio::awaitable<result> put(std::string key, std::string data) = 0;
  /// The number of the last message that is there; 0: none.
  virtual boost::asio::awaitable<result> last(boost::asio::cancellation_slot cancelled) = 0;
  /// Whether it puts nothing any more after a put that failed like this, because its name is in use elsewhere.
  virtual bool is_ended_by(const error_code&) const { return false; }
  /// Completes when nothing is left to do, within a time of its own.
  virtual boost::asio::awaitable<void> close() { co_return; }
  /// False: a message would be refused now, for a reason of this process, such as a full file.
  virtual bool accepts() const { return true; }
  /// Why it can not take messages, or not pass them on, in words for people. Empty if it can.
  virtual std::string trouble() const { return {}; }
  virtual void add_to(metrics_page&) const {}
};

/// Makes the outlet of one producer by name.
using outlet_factory = std::function<std::unique_ptr<outlet>(const std::string& producer)>;

/// Whether the library has been built with the part spool.
bool has_spool();

topic make_topic(const session& over, const configuration& settings);

/// Into the queue or topic of the configuration. With a spool only the messages of the replica's `own` producer go by
/// way of a file. Clients that number their messages keep them until they are in the queue, and can go to another
/// replica at any time.
outlet_factory make_outlets(const session& over, const std::string& own, const configuration& settings);

}  // namespace zkrecipes::service
