// Takes messages from outside, and passes them on exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/service/metrics_page.hpp>

#include "outlets.hpp"

namespace zkrecipes::service {

/// A message that a client has sent.
struct incoming {
  std::string key{};
  std::string data{};
  /// The name under which the client numbers its messages 1, 2, 3 ... Then a repetition is put once, also if it goes to
  /// another replica. Empty: a client that repeats a message because it has had no answer may put it twice.
  std::string producer{};
  std::uint64_t number = 0;  ///< The client's number of the message, with `producer`.
};

/// The outcome of taking a message in.
struct taken {
  enum class kind {
    put,      ///< It is there, with `number`.
    already,  ///< It had been put before.
    gap,      ///< The message after `number` is expected.
    too_large,
    failed,  ///< It can not be put, and coming again does not help; `reason` tells why.
    later,   ///< Not now: the client is to come again. With `producer` the message is put once all the same.
  };
  kind what = kind::later;
  std::uint64_t number = 0;
  std::string reason{};
};

struct intake_options {
  std::size_t pending = 1'000;     ///< Most messages under way, also of those whose client has been told to come again.
  std::size_t bytes = 64'000'000;  ///< Most bytes of them, together.
  std::size_t clients = 10'000;    ///< Beyond this an idle one is forgotten. It costs a read to get to know it again.
  std::chrono::milliseconds timeout{5'000};
};

/// Thread safety: none, the context has one thread.
class intake {
 public:
  /// `own`: the producer of messages without one.
  intake(boost::asio::any_io_executor executor, std::string own, outlet_factory make, intake_options options);

  /// Makes the outlet of messages without a producer now, and not with the first of them: what a former process has
  /// left in a file goes on.
  void open_own() { own_producer(); }
  /// Completes within the timeout. A message that is being put then is put all the same, and is under way until it is.
  boost::asio::awaitable<taken> take(incoming message);
  /// Closes the outlets, also while messages are under way; no further one may be taken.
  boost::asio::awaitable<void> close();
  /// Why messages are refused, or not passed on by the outlet of those without a producer, for the log. Empty: they are
  /// not.
  std::string trouble() const;
  /// Whether a message without a producer would be taken now, as far as its outlet knows.
  bool accepts() const { return refusal_.empty() && (!own_ || own_->into->accepts()); }
  /// Why messages without a producer are refused until the process is started again. Empty if they are not.
  const std::string& refusal() const { return refusal_; }
  void add_to(metrics_page& page) const;

 private:
  struct producer {
    std::unique_ptr<outlet> into;
    std::optional<std::uint64_t> last{};  ///< The number of the last message that is there, if it is known.
    bool busy = false;                    ///< A numbered message is under way.
    error_code late{};                    ///< The error of a put whose client has been told to come again.
  };
  using shared_producer = std::shared_ptr<producer>;
  struct backlog {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };
  struct message_under_way;
  struct put_under_way;
  using shared_message = std::shared_ptr<message_under_way>;

  bool is_full(const incoming& message) const;
  boost::asio::awaitable<taken> put_own(incoming message, shared_message in_hand);
  boost::asio::awaitable<taken> put_numbered(incoming message, shared_message in_hand);
  boost::asio::awaitable<taken> put_next(shared_producer by, incoming message, shared_message in_hand);
  boost::asio::awaitable<outlet::result> put(shared_producer by, std::string key, std::string data,
                                             shared_message in_hand);
  boost::asio::awaitable<zkrecipes::error_code> read_last(const shared_producer& by, const message_under_way& in_hand);
  shared_producer own_producer();
  shared_producer client(const std::string& name);
  void forget(const std::string& client, const shared_producer& by);
  taken failed(const std::string& client, const shared_producer& by, const error_code& error);

  const boost::asio::any_io_executor executor_;
  const std::string own_name_;
  const outlet_factory make_;
  const intake_options options_;
  shared_producer own_;  // never evicted: it may have a file with messages that wait for the servers
  std::string refusal_;
  std::string lasting_;  // why the last message was refused, if an operator has to do something, or the queue is full
  std::map<std::string, shared_producer> clients_;
  const std::shared_ptr<backlog> pending_ = std::make_shared<backlog>();
  std::map<taken::kind, std::uint64_t> counts_;
};

}  // namespace zkrecipes::service
