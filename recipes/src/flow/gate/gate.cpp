#include "gate/gate.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "gate/gate_shard.hpp"
#include "gate/sip_hash.hpp"

namespace zkrecipes::detail {

boost::asio::execution_context::id gate_registry::id;

gate_registry::gate_registry(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context) {}

gate_registry::list_ptr gate_registry::add(boost::asio::execution_context& context,
                                           const std::shared_ptr<gate_state>& one) {
  auto& here = boost::asio::use_service<gate_registry>(context).gates_;
  here->add(one);
  return here;
}

void gate_registry::list::add(const std::shared_ptr<gate_state>& one) {
  std::lock_guard lock(mutex_);
  all_.emplace(one.get(), one);
}

void gate_registry::list::remove(gate_state* one) {
  std::lock_guard lock(mutex_);
  all_.erase(one);
}

void gate_registry::list::shut_down() {
  std::vector<std::shared_ptr<gate_state>> alive;  // destroyed without the lock: a gate takes itself off the list
  {
    std::lock_guard lock(mutex_);
    for (const auto& [address, weak] : all_) {
      if (auto one = weak.lock()) alive.push_back(std::move(one));
    }
  }
  for (const auto& each : alive) each->shut_down();
}

std::shared_ptr<gate_state> gate_state::make(scheduler_ptr on, gate_options options) {
  auto made = std::make_shared<gate_state>(std::move(on), options);
  made->registered_ = gate_registry::add(asio::query(made->on_->strand, asio::execution::context), made);
  return made;
}

gate_state::gate_state(scheduler_ptr on, gate_options options) : on_(std::move(on)), options_(options) {
  if (lease_clock::duration(options.safety).count() <= 0) {
    throw std::invalid_argument("gate_options::safety is not positive");
  }
  secret_ = {on_->world->random(), on_->world->random()};
  for (auto& each : shards_) each.belong_to(*this);
}

gate_state::~gate_state() {
  if (registered_) registered_->remove(this);
}

gate_key gate_state::fingerprint(std::string_view key) const noexcept { return sip_hash<1, 3>(secret_)(key); }

gate_statistics gate_state::statistics() const {
  gate_statistics all;
  for (const auto& each : shards_) each.add_to(all);
  return all;
}

std::optional<gate_pass> gate_state::try_enter(std::string_view key) {
  if (!on_) return std::nullopt;
  const auto hashed = fingerprint(key);
  return shard_of(hashed).try_enter(hashed, now());
}

void gate_state::enter(gate_caller::handler h, const gate_key& key) {
  if (!on_) return;
  gate_caller caller(on_->base, std::move(h));
  auto& shard = shard_of(key);
  gate_pass pass;
  switch (shard.enter(key, now(), pass)) {
    case gate_shard::answer::accepted: return caller.complete({}, std::move(pass));
    case gate_shard::answer::declined: return caller.complete(errc::declined);
    case gate_shard::answer::to_wait: break;
  }
  const auto waiter = std::make_shared<gate_waiter>(shared_from_this(), key, std::move(caller));
  waiter->listen();
  shard.wait(waiter, now());
}

void gate_state::orphan() {
  const auto self = shared_from_this();
  for (auto& each : shards_) each.orphan(self);
}

void gate_state::shut_down() noexcept {
  for (auto& each : shards_) each.drop();
  if (on_) disarm();
  on_.reset();
}

/// The timer is set anew if it would fire too late. A waiter that has come before a review looks at its shard is seen
/// by the review; any other one finds the time that the review has set.
void gate_state::on_arrival(lease_clock::time_point due) {
  if (due < armed_.load()) request_review();
}

void gate_state::on_departure() {
  if (waiting_ == 0 && armed_.load() != never) request_review();
}

void gate_state::request_review() {
  if (!on_ || is_review_requested_.exchange(true)) return;
  asio::post(on_->strand, [self = shared_from_this()] { self->review(); });
}

/// Lets those in whose time has come, and sets the timer for the next one, if there is one. On the strand.
void gate_state::review() {
  if (!on_) return;
  is_review_requested_ = false;
  disarm();
  armed_ = never;
  auto next = never;
  for (auto& each : shards_) next = std::min(next, each.evict_due(now()));
  if (next == never) return;
  // The rough clock may say later than the timer's that it is time. So there is a pause before the next look.
  const auto pause = std::max<lease_clock::duration>(next - now(), std::chrono::milliseconds(1));
  timer_ = on_->world->call_at(on_->now() + pause, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->review();
  });
  armed_ = next;
  if (waiting_ == 0) request_review();  // the last one may have left before it could see that the timer is set
}

void gate_state::disarm() {
  if (timer_ != 0) on_->world->cancel(std::exchange(timer_, 0));
}

}  // namespace zkrecipes::detail

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
