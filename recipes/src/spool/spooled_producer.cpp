#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "backend/request.hpp"
#include "queue/producer_state.hpp"
#include "queue/queue_core.hpp"
#include "session/core.hpp"
#include "spool/make_spool.hpp"
#include "spool/spool_state.hpp"
#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

// What a topic and a queue have in common as targets of a spooled producer.

/// A call of an operation that can be cancelled when its result is not needed any more.
/// One call at a time. On the strand.
class cancellable_call {
 public:
  /// The handler for the next call. It keeps the signal for as long as the operation may use it.
  auto begin(const boost::asio::any_io_executor& strand, spool_target::handler done) {
    signal_ = std::make_shared<boost::asio::cancellation_signal>();
    auto adapted = [done = std::move(done), keep = signal_](error_code error, std::uint64_t number) {
      done(error, number);
    };
    return boost::asio::bind_cancellation_slot(signal_->slot(), boost::asio::bind_executor(strand, std::move(adapted)));
  }
  void cancel() {
    if (const auto keep = signal_) keep->emit(boost::asio::cancellation_type::total);
  }

 private:
  std::shared_ptr<boost::asio::cancellation_signal> signal_;
};

/// Has the bounds of messages and of puts. A derived class has the producer.
class producer_target : public spool_target {
 public:
  struct bounds {
    std::size_t longest_key = 0;    ///< 0: messages have no keys.
    std::size_t room_for_path = 0;  ///< Bytes of a message that a long path takes.
    std::size_t most_messages = 0;  ///< A put has no more.
    std::size_t most_bytes = 0;     ///< The same for its bytes.
  };

  error_code check(const spool_row& what) const override;
  std::size_t most_messages() const noexcept override { return bounds_.most_messages; }
  std::size_t most_bytes() const noexcept override { return bounds_.most_bytes; }
  spool_outage outage() const override;
  void cancel() override { asking_.cancel(); }

 protected:
  /// \throws std::invalid_argument if the topic or queue has no session, because it was made by default.
  producer_target(const session& with, const bounds& limits);

  const boost::asio::any_io_executor& strand() const noexcept;
  /// The handler of a call of `last`, which `cancel` ends.
  auto ask(handler done) { return asking_.begin(strand(), std::move(done)); }

 private:
  bounds bounds_;
  std::shared_ptr<core> session_;
  std::size_t most_bytes_of_message_;
  cancellable_call asking_;
};

namespace {

/// A request has as much besides the message.
constexpr std::size_t overhead = 24'000;

const std::shared_ptr<core>& core_of(const session& with) {
  if (with.get_core()) return with.get_core();
  throw std::invalid_argument("spooled_producer: a topic or queue that was made by default takes nothing");
}

/// As the producers have it, and not more than the session would send.
std::size_t most_bytes_of_message(const core& with, std::size_t room_for_path) {
  const std::size_t most = with.options().jute_maxbuffer;
  return std::min(max_data_bytes - room_for_path, most - std::min(most, overhead + room_for_path));
}

}  // namespace

producer_target::producer_target(const session& with, const bounds& limits)
    : bounds_(limits),
      session_(core_of(with)),
      most_bytes_of_message_(most_bytes_of_message(*session_, limits.room_for_path)) {}

const boost::asio::any_io_executor& producer_target::strand() const noexcept {
  return session_->get_scheduler()->strand;
}

spool_outage producer_target::outage() const {
  if (session_->connected()) return {};
  return {errc::connection_loss, "the session has no connection: check the ensemble and the network"};
}

error_code producer_target::check(const spool_row& what) const {
  if (bounds_.longest_key == 0 && !what.key.empty()) return errc::bad_arguments;
  const auto bytes = what.key.size() + what.data.size();
  return what.key.size() > bounds_.longest_key || bytes > most_bytes_of_message_ ? errc::too_large : error_code();
}

/// A queue as what a spooled producer puts into.
class queue_target : public producer_target {
 public:
  queue_target(const queue& into, const std::string& name);

  const std::string& path() const noexcept override { return producer_->path(); }
  void last(handler done) override;
  void put(std::vector<spool_row> what, handler done) override;

 private:
  std::shared_ptr<producer_state> producer_;
};

namespace {

/// The results of puts that were made together.
struct put_results {
  std::size_t open;
  std::size_t first_failed;
  error_code error{};
};

}  // namespace

queue_target::queue_target(const queue& into, const std::string& name)
    : producer_target(into.get_session(), {.most_messages = 1'000, .most_bytes = std::size_t{1} << 20}) {
  constexpr producer_options how{.max_batch = 1'000};
  const producer checked(into, name, how);
  const auto& core = into.get_queue();
  producer_ = std::make_shared<producer_state>(core->frame(), core->get_capacity(), name, how);
  producer_->stop_at_failures();
}

void queue_target::last(handler done) {
  launch_endless(handler_for<void(error_code, std::uint64_t)>(ask(std::move(done))), producer_, &producer_state::last);
}

void queue_target::put(std::vector<spool_row> what, handler done) {
  auto all = std::make_shared<put_results>(put_results{what.size(), what.size()});
  auto told = std::make_shared<handler>(std::move(done));
  for (std::size_t i = 0; i < what.size(); ++i) {
    auto each = [all, told, i](error_code error, std::uint64_t) {
      if (error && i < all->first_failed) {
        all->first_failed = i;
        all->error = error;
      }
      if (--all->open == 0) (*told)(all->error, all->first_failed);
    };
    launch_endless(handler_for<void(error_code, std::uint64_t)>(asio::bind_executor(strand(), std::move(each))),
                   producer_, &producer_state::put, std::move(what[i].data));
  }
}

/// A topic as what a spooled producer puts into.
class topic_target : public producer_target {
 public:
  topic_target(const topic& into, const std::string& name);

  const std::string& path() const noexcept override { return producer_.path(); }
  void last(handler done) override;
  void put(std::vector<spool_row> what, handler done) override;

 private:
  topic_producer producer_;
};

namespace {

producer_target::bounds bounds_of(const topic& into) {
  return {.longest_key = 1'000,
          .room_for_path = into.path().size() > 1'000 ? 50'000u : 0u,
          .most_messages = 32'000,
          .most_bytes = std::size_t{4} << 20};
}

}  // namespace

topic_target::topic_target(const topic& into, const std::string& name)
    : producer_target(into.get_session(), bounds_of(into)), producer_(into, name) {}

void topic_target::last(handler done) { producer_.async_last(ask(std::move(done))); }

void topic_target::put(std::vector<spool_row> what, handler done) {
  std::vector<topic_message> all;
  all.reserve(what.size());
  for (auto& each : what) all.push_back({std::move(each.key), std::move(each.data)});
  producer_.async_put_all(std::move(all), boost::asio::bind_executor(strand(), std::move(done)));
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

spooled_producer::spooled_producer() noexcept = default;

spooled_producer::spooled_producer(std::shared_ptr<spool_state> state) noexcept : state_(std::move(state)) {}

spooled_producer::spooled_producer(const topic& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<topic_target>(into, name);
  state_ = make_spool(into.get_session(), name, std::move(options), std::move(target));
}

spooled_producer::spooled_producer(const queue& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<queue_target>(into, name);
  state_ = make_spool(into.get_session(), name, std::move(options), std::move(target));
}

spooled_producer::spooled_producer(spooled_producer&&) noexcept = default;

spooled_producer& spooled_producer::operator=(spooled_producer&& other) noexcept {
  const auto before = std::exchange(state_, std::move(other.state_));
  if (before && before != state_) before->abandon();
  return *this;
}

spooled_producer::~spooled_producer() {
  if (state_) state_->abandon();
}

spool_status spooled_producer::status() const { return state_ ? state_->status() : spool_status(); }

const std::string& spooled_producer::path() const noexcept { return state_ ? state_->path() : no_path(); }

const spool_options& spooled_producer::options() const noexcept {
  static const spool_options defaults;
  return state_ ? state_->options() : defaults;
}

spooled_producer::executor_type spooled_producer::get_executor() const noexcept {
  return state_ ? state_->get_scheduler()->base : executor_type();
}

void spooled_producer::start_put(handler_for<void(error_code, std::uint64_t)> h, state_ptr state, std::string key,
                                 std::string data, bool is_through) {
  state->put(std::move(h), {0, std::move(key), std::move(data)}, is_through);
}

void spooled_producer::start_flush(handler_for<void(error_code)> h, state_ptr state, time_budget within) {
  launch_endless(std::move(h), std::move(state), &spool_state::flush, lease_clock::duration(within));
}

void spooled_producer::start_close(handler_for<void(error_code)> h, state_ptr state, time_budget within) {
  state->refuse_puts();
  launch_endless(std::move(h), std::move(state), &spool_state::close, lease_clock::duration(within));
}

}  // namespace zkrecipes
