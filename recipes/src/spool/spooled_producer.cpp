#include <stdexcept>
#include <utility>

#include <zkrecipes/spooled_producer.hpp>

#include "session/core.hpp"
#include "spool/queue_target.hpp"
#include "spool/spool_state.hpp"
#include "spool/sqlite_disk.hpp"
#include "spool/topic_target.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

std::shared_ptr<spool_state> make(const session& with, const std::string& name, spool_options options,
                                  std::unique_ptr<spool_target> target) {
  const auto& on = with.get_core()->get_scheduler();
  // Two sessions with different roots have different queues at one path.
  const auto path = with.get_core()->root() + target->path();
  const spool_file_settings settings{options.file, path, name, options.durability};
  auto disk = std::make_shared<sqlite_disk>(on->strand, settings);
  auto state = std::make_shared<spool_state>(on, std::move(options), std::move(target), std::move(disk));
  state->start();
  return state;
}

}  // namespace

spooled_producer::spooled_producer() noexcept = default;

spooled_producer::spooled_producer(std::shared_ptr<spool_state> state) noexcept : state_(std::move(state)) {}

spooled_producer::spooled_producer(const topic& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<topic_target>(into, name);
  state_ = make(into.get_session(), name, std::move(options), std::move(target));
}

spooled_producer::spooled_producer(const queue& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<queue_target>(into, name);
  state_ = make(into.get_session(), name, std::move(options), std::move(target));
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
  launch(std::move(h), std::move(state), &spool_state::flush, lease_clock::duration(within));
}

void spooled_producer::start_close(handler_for<void(error_code)> h, state_ptr state, time_budget within) {
  state->refuse_puts();
  launch(std::move(h), std::move(state), &spool_state::close, lease_clock::duration(within));
}

}  // namespace zkrecipes
