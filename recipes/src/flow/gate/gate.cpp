#include <stdexcept>
#include <utility>

#include <boost/asio/strand.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "gate/gate_shard.hpp"
#include "gate/gate_state.hpp"

namespace zkrecipes {

gate_pass::gate_pass(gate_pass&& other) noexcept
    : where_(std::exchange(other.where_, nullptr)), key_(other.key_), generation_(other.generation_) {}

gate_pass& gate_pass::operator=(gate_pass&& other) noexcept {
  gate_pass taken(std::move(other));
  std::swap(where_, taken.where_);
  std::swap(key_, taken.key_);
  std::swap(generation_, taken.generation_);
  return *this;
}

bool gate_pass::valid() const noexcept { return where_ && where_->is_valid(key_, generation_); }

void gate_pass::leave() noexcept {
  if (where_) std::exchange(where_, nullptr)->leave(key_, generation_);
}

using namespace detail;

namespace {

scheduler_ptr real_scheduler(gate::executor_type executor) {
  if (!executor) throw std::invalid_argument("gate executor: it is empty");
  auto made = std::make_shared<scheduler>();
  made->base = std::move(executor);
  made->strand = asio::make_strand(made->base);
  made->world = backend::make_real_world(made->strand);
  return made;
}

}  // namespace

gate::gate() noexcept = default;
gate::gate(executor_type executor, gate_options options)
    : gate(gate_state::make(real_scheduler(std::move(executor)), options)) {}
gate::gate(std::shared_ptr<gate_state> state) noexcept : state_(std::move(state)) {}
gate::gate(gate&&) noexcept = default;

gate& gate::operator=(gate&& other) noexcept {
  gate taken(std::move(other));
  std::swap(state_, taken.state_);
  return *this;
}

gate::~gate() {
  if (state_) state_->orphan();
}

std::optional<gate_pass> gate::try_enter(std::string_view key) {
  return state_ ? state_->try_enter(key) : std::nullopt;
}

gate_statistics gate::statistics() const { return state_ ? state_->statistics() : gate_statistics(); }

const gate_options& gate::options() const noexcept {
  static const gate_options by_default;
  return state_ ? state_->options() : by_default;
}

gate::executor_type gate::get_executor() const noexcept { return state_ ? state_->get_executor() : executor_type(); }

gate_key gate::fingerprint(std::string_view key) const noexcept {
  return state_ ? state_->fingerprint(key) : gate_key();
}

void gate::start_enter(handler_for<void(error_code, gate_pass)> h, std::shared_ptr<gate_state> state, gate_key key) {
  state->enter(std::move(h), key);
}

}  // namespace zkrecipes
