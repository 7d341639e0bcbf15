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

/// A topic or a queue as what a spooled producer puts into.
class producer_target : public spool_target {
 public:
  struct bounds {
    std::size_t longest_key = 0;    ///< 0: messages have no keys.
    std::size_t room_for_path = 0;  ///< Bytes of a message that a long path takes.
    std::size_t most_messages = 0;  ///< A put has no more.
    std::size_t most_bytes = 0;     ///< A put has no more bytes.
  };

  producer_target(std::shared_ptr<core> session, std::shared_ptr<producer_core> into, const bounds& limits);

  const std::string& path() const noexcept override { return producer_->path(); }
  error_code check(const spool_row& what) const override;
  std::size_t most_messages() const noexcept override { return bounds_.most_messages; }
  std::size_t most_bytes() const noexcept override { return bounds_.most_bytes; }
  spool_outage outage() const override;
  void last(handler done) override { producer_->last(asking_.begin(strand(), std::move(done))); }
  void cancel() override { asking_.cancel(); }
  void put(std::vector<spool_row> what, handler done) override;

 private:
  const boost::asio::any_io_executor& strand() const noexcept { return session_->get_scheduler()->strand; }

  bounds bounds_;
  std::shared_ptr<core> session_;
  std::shared_ptr<producer_core> producer_;
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

producer_target::producer_target(std::shared_ptr<core> session, std::shared_ptr<producer_core> into,
                                 const bounds& limits)
    : bounds_(limits),
      session_(std::move(session)),
      producer_(std::move(into)),
      most_bytes_of_message_(most_bytes_of_message(*session_, limits.room_for_path)) {}

void producer_target::put(std::vector<spool_row> what, handler done) {
  producer_->put(boost::asio::bind_executor(strand(), std::move(done)), messages_of(std::move(what)), true);
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

namespace {

/// It waits for a connection for as long as it takes.
std::unique_ptr<spool_target> make_target(const queue& into, const std::string& name) {
  constexpr producer_options how{.max_batch = 1'000};
  const auto& session = core_of(into.get_session());
  const producer checked(into, name, how);
  const auto& core = into.get_queue();
  auto by = std::make_shared<producer_state>(core->frame(), core->get_capacity(), name, how, persistence::endless);
  const producer_target::bounds bounds{.most_messages = 1'000, .most_bytes = std::size_t{1} << 20};
  return std::make_unique<producer_target>(session, std::move(by), bounds);
}

std::unique_ptr<spool_target> make_target(const topic& into, const std::string& name) {
  const producer_target::bounds bounds{.longest_key = 1'000,
                                       .room_for_path = into.path().size() > 1'000 ? 50'000u : 0u,
                                       .most_messages = 32'000,
                                       .most_bytes = std::size_t{4} << 20};
  const auto& session = core_of(into.get_session());
  return std::make_unique<producer_target>(session, topic_producer(into, name).get_core(), bounds);
}

}  // namespace

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

spooled_producer::spooled_producer() noexcept = default;

spooled_producer::spooled_producer(std::shared_ptr<spool_state> state) noexcept : state_(std::move(state)) {}

spooled_producer::spooled_producer(const topic& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = make_target(into, name);
  state_ = make_spool(into.get_session(), name, std::move(options), std::move(target));
}

spooled_producer::spooled_producer(const queue& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = make_target(into, name);
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
