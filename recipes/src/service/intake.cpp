#include "intake.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::service {

namespace asio = boost::asio;
using kind = taken::kind;

namespace {

constexpr std::array<std::pair<kind, const char*>, 6> results{{{kind::put, "put"},
                                                               {kind::already, "already"},
                                                               {kind::gap, "gap"},
                                                               {kind::too_large, "too_large"},
                                                               {kind::failed, "failed"},
                                                               {kind::later, "later"}}};

/// Whether an operator has to do something first.
bool is_permanent(const error_code& error) {
  return error == errc::no_auth || error == errc::foreign_data || error == errc::size_mismatch ||
         error == errc::sequence_exhausted;
}

}  // namespace

intake::intake(asio::any_io_executor executor, std::string own, outlet_factory make, intake_options options)
    : executor_(std::move(executor)), own_name_(std::move(own)), make_(std::move(make)), options_(options) {}

/// It counts while it exists.
struct intake::message_under_way {
  message_under_way(std::shared_ptr<backlog> of, const incoming& message, std::chrono::milliseconds timeout)
      : pending(std::move(of)), bytes(size_of(message)), until(std::chrono::steady_clock::now() + timeout) {
    ++pending->messages;
    pending->bytes += bytes;
  }
  ~message_under_way() {
    --pending->messages;
    pending->bytes -= bytes;
  }
  message_under_way(const message_under_way&) = delete;
  message_under_way& operator=(const message_under_way&) = delete;

  static std::size_t size_of(const incoming& message) { return message.key.size() + message.data.size(); }

  const std::shared_ptr<backlog> pending;  // a share: a put can end with its context, after the intake
  const std::size_t bytes;
  const std::chrono::steady_clock::time_point until;  // the client waits
};

struct intake::put_under_way {
  put_under_way(const asio::any_io_executor& on, std::chrono::steady_clock::time_point until) : wait(on, until) {}

  asio::steady_timer wait;
  std::exception_ptr failure{};
  std::optional<outlet::result> result{};
  bool is_left = false;  // its client has been told to come again
};

bool intake::is_full(const incoming& message) const {
  return pending_->messages >= options_.pending ||
         pending_->bytes + message_under_way::size_of(message) > options_.bytes;
}

asio::awaitable<taken> intake::take(incoming message) {
  taken result;
  if (is_full(message)) {
    result = {kind::later, 0, "too many messages are under way"};
  } else {
    auto in_hand = std::make_shared<message_under_way>(pending_, message, options_.timeout);
    if (message.producer.empty())
      result = co_await put_own(std::move(message), std::move(in_hand));
    else
      result = co_await put_numbered(std::move(message), std::move(in_hand));
  }
  ++counts_[result.what];
  co_return result;
}

asio::awaitable<taken> intake::put_own(incoming message, shared_message in_hand) {
  const auto by = own_producer();
  if (const auto late = std::exchange(by->late, {})) failed({}, by, late);
  if (!refusal_.empty()) co_return taken{kind::later, 0, refusal_};
  auto [error, number] = co_await put(by, std::move(message.key), std::move(message.data), std::move(in_hand));
  if (error) co_return failed({}, by, error);
  lasting_.clear();
  co_return taken{kind::put, number, {}};
}

asio::awaitable<taken> intake::put_numbered(incoming message, shared_message in_hand) {
  auto by = client(message.producer);
  if (by->busy) co_return taken{kind::later, 0, "another message of this producer is under way"};
  by->busy = true;
  auto result = co_await put_next(by, std::move(message), std::move(in_hand));
  by->busy = false;
  co_return result;
}

// The put is not cancelled: an outlet that is connected would keep the message all the same, and it would not be known
// for how long. So what clients repeat would fill the memory while the servers are slow.
asio::awaitable<outlet::result> intake::put(shared_producer by, std::string key, std::string data,
                                            shared_message in_hand) {
  const auto mine = std::make_shared<put_under_way>(executor_, in_hand->until);
  auto putting = by->into->put(std::move(key), std::move(data));
  asio::co_spawn(executor_, std::move(putting), [mine, by, in_hand](std::exception_ptr failure, outlet::result result) {
    if (mine->is_left && failure) std::rethrow_exception(failure);
    if (mine->is_left) by->late = std::get<0>(result);
    mine->failure = failure;
    mine->result = result;
    mine->wait.cancel();
  });
  if (!mine->result) co_await mine->wait.async_wait(asio::as_tuple(asio::use_awaitable));
  if (mine->failure) std::rethrow_exception(mine->failure);
  mine->is_left = !mine->result;
  co_return mine->result.value_or(outlet::result(asio::error::operation_aborted, 0));
}

// Another replica may have served the client since the number was read, or the queue may have been removed. So a gap or
// a repetition is told by a number that was read just now. It takes a new outlet, because the old one puts behind the
// number that it knows.
asio::awaitable<taken> intake::put_next(shared_producer by, incoming message, shared_message in_hand) {
  const bool is_unexpected = by->last && message.number != *by->last + 1;
  if (is_unexpected) by->into = make_(message.producer);
  if (is_unexpected || !by->last) {
    const auto error = co_await read_last(by, *in_hand);
    if (error) co_return failed(message.producer, by, error);
  }
  if (message.number <= *by->last) co_return taken{kind::already, message.number, {}};
  if (message.number > *by->last + 1)
    co_return taken{kind::gap, *by->last, "a message before this one is missing: it has to be put first"};
  auto [error, number] = co_await put(by, std::move(message.key), std::move(message.data), std::move(in_hand));
  if (error) co_return failed(message.producer, by, error);
  if (number != message.number) {
    forget(message.producer, by);
    co_return taken{kind::failed, number,
                    "the message was put as number " + std::to_string(number) +
                        ": the queue was removed, or two clients use this name"};
  }
  by->last = number;
  lasting_.clear();
  co_return taken{kind::put, number, {}};
}

asio::awaitable<error_code> intake::read_last(const shared_producer& by, const message_under_way& in_hand) {
  struct time_limit {
    asio::cancellation_signal signal{};
    bool is_over = false;  // a signal is lost while no operation waits for it
  };
  // The timer's handler can run after this coroutine has gone on, so it has a share of the limit.
  const auto limit = std::make_shared<time_limit>();
  asio::steady_timer timer(executor_, in_hand.until);
  timer.async_wait([limit](auto error) {
    if (error) return;
    limit->is_over = true;
    limit->signal.emit(asio::cancellation_type::terminal);
  });
  by->last.reset();
  auto [error, last] = co_await by->into->last(limit->signal.slot());
  if (!error && limit->is_over) co_return asio::error::operation_aborted;  // nobody waits for the put
  if (!error) by->last = last;
  co_return error;
}

// An outlet of our own goes on after most errors: a put that was given up is still on its way, and a second outlet of
// the same name would race with it. If another process has put something under its name, it stays refused: two
// processes with one name would otherwise take it from each other in turn.
//
// For a client it is not known after an error whether the message follows, and another replica may serve the client by
// now. So its next message begins with a new outlet, which reads what is there. Also after `full`: the old outlet reads
// its record again then, and would put behind messages that another replica has put, under numbers that are not the
// client's. If two outlets put the same number, one of them is refused.
taken intake::failed(const std::string& client, const shared_producer& by, const error_code& error) {
  if (error == errc::too_large) return {kind::too_large, 0, error.message()};
  if (error == errc::full || is_permanent(error)) lasting_ = "messages are refused: " + error.message();
  if (!client.empty())
    forget(client, by);
  else if (by->into->is_ended_by(error))
    refusal_ = "another process puts messages under the name " + own_name_ +
               ": give each replica an id of its own, and start this one again";
  if (is_permanent(error)) return {kind::failed, 0, error.message()};
  if (client.empty() && !refusal_.empty()) return {kind::later, 0, refusal_};
  return {kind::later, 0, error == asio::error::operation_aborted ? "no confirmation yet" : error.message()};
}

void intake::forget(const std::string& client, const shared_producer& by) {
  const auto found = clients_.find(client);
  if (found != clients_.end() && found->second == by) clients_.erase(found);
}

intake::shared_producer intake::own_producer() {
  if (!own_) own_ = std::make_shared<producer>(producer{make_(own_name_)});
  return own_;
}

intake::shared_producer intake::client(const std::string& name) {
  if (const auto found = clients_.find(name); found != clients_.end()) return found->second;
  if (clients_.size() >= options_.clients) {
    const auto is_idle = [](const auto& each) { return each.second.use_count() == 1; };
    const auto idle = std::ranges::find_if(clients_, is_idle);
    if (idle != clients_.end()) clients_.erase(idle);
  }
  return clients_[name] = std::make_shared<producer>(producer{make_(name)});
}

asio::awaitable<void> intake::close() {
  const auto own = std::exchange(own_, {});
  const auto clients = std::exchange(clients_, {});
  for (const auto& [name, each] : clients) co_await each->into->close();
  if (own) co_await own->into->close();
}

std::string intake::trouble() const {
  if (!refusal_.empty()) return refusal_;
  auto of_outlet = own_ ? own_->into->trouble() : std::string();
  return of_outlet.empty() ? lasting_ : of_outlet;
}

void intake::add_to(metrics_page& page) const {
  page.gauge("service_messages_pending", "Messages from outside that are under way.", pending_->messages);
  for (const auto& [which, name] : results) {
    const auto found = counts_.find(which);
    page.counter("service_messages_total", "Messages from outside, by what became of them.",
                 found == counts_.end() ? 0 : found->second, {{"result", name}});
  }
  if (own_) own_->into->add_to(page);
}

}  // namespace zkrecipes::service
