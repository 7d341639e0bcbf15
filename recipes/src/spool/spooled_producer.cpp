#include <memory>
#include <stdexcept>
#include <utility>

#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "queue/producer_state.hpp"
#include "queue/queue_core.hpp"
#include "spool/make_spool.hpp"
#include "spool/producer_target.hpp"
#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

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
