#include <stdexcept>
#include <utility>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/make_spool.hpp"
#include "spool/queue_target.hpp"
#include "spool/spool_state.hpp"
#include "spool/topic_target.hpp"

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
