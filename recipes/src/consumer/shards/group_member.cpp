#include "shards/group_member.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include <boost/system/errc.hpp>

#include "session/forwarding.hpp"
#include "session/mending.hpp"
#include "session/outcomes.hpp"
#include "session/undo.hpp"
#include "shards/group_nodes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

/// A member that loses its node sooner pauses before it joins again. With a lease that has lapsed, or an operator who
/// removes the node, it would be lost again at once.
constexpr auto shortest_stay = 1s;
constexpr std::chrono::milliseconds longest_join_pause = 10s;

/// What a member tells of itself, but whether it drains.
bool tells_the_same(const member_record& a, const member_record& b) {
  return a.id == b.id && a.capacity == b.capacity && a.grace == b.grace && a.data == b.data;
}

}  // namespace

group_member::group_member(group_frame_ptr group)
    : group_(std::move(group)),
      changed_(get_scheduler()),
      gone_(std::make_shared<std::set<std::string, std::less<>>>()),
      planner_(std::make_shared<coordinator>(session(), group_->where.planner(),
                                             consumer_coordinator_options{.id = group_->options.id})),
      planning_(group_),
      pause_(session()->options().retry.first_pause,
             std::max(longest_join_pause, session()->options().retry.max_pause)),
      planner_pause_(1s, 30s) {}

error_code group_member::begin_run(career_factory make) {
  if (running_.exchange(true)) return errc::busy;
  ++runs_;
  // On the strand, because a `stop` there may have seen this run, and must not be left to the next one.
  auto end = [self = shared_from_this()] {
    self->stopping_ = self->at_once_ = self->draining_ = self->running_ = false;
  };
  if (is_forbidden_) {
    asio::post(session()->strand(), std::move(end));
    return errc::closed;
  }
  make_ = std::move(make);
  return {};
}

void group_member::stop(bool at_once) {
  if (!running_) return;
  stopping_ = true;
  at_once_ = at_once_ || at_once;
  changed_.notify();
}

void group_member::drain() {
  if (!running_) return;
  draining_ = true;
  changed_.notify();
}

awaitable<outcome<>> group_member::run(asio::any_io_executor executor) {
  executor_ = std::move(executor);
  error_code error;
  std::exception_ptr failure;
  try {
    auto body = run_memberships();
    error = co_await or_undo(std::move(body), abandon());
  } catch (...) {  // no memory
    failure = std::current_exception();
  }
  co_await end_planner();
  make_ = nullptr;
  was_planned_for_ = false;
  stopping_ = at_once_ = draining_ = false;
  publish();
  running_ = false;
  if (failure) std::rethrow_exception(failure);
  co_return outcome<>(error);
}

/// The planner's election is that of a coordinator. It runs beside the membership, through all its incarnations.
void group_member::start_planner() {
  struct body {
    static awaitable<void> run(std::shared_ptr<group_member> self, asio::any_io_executor on) {
      auto& error = self->planner_error_;
      error = self->planner_->begin_run(self->planning_);
      if (error) co_return;
      try {
        auto ended = co_await self->planner_->run(on);
        error = std::get<0>(ended);
      } catch (const std::bad_alloc&) {
        error = make_error_code(boost::system::errc::not_enough_memory);
      }
    }
  };
  const auto& strand = session()->strand();
  planner_task_ =
      start_task(*get_scheduler(), strand, body::run(shared_from_this(), strand), changed_, shared_from_this());
}

awaitable<void> group_member::end_planner() {
  if (!planner_task_) co_return;
  planner_->stop(false);
  while (!planner_task_->done) co_await changed_.wait();
  planner_task_.reset();
}

/// Nobody's work stops because the planner's election can not be used: it is tried again. A run that nobody has planned
/// for yet ends, so that its user is told.
void group_member::tend_planner() {
  if (!has_planner_failed()) return;
  if (!was_planned_for_) return stop(false);
  if (plan_again_at_ == never) plan_again_at_ = planner_pause_.next(*get_scheduler());
  if (session()->now() < plan_again_at_) return;
  plan_again_at_ = never;
  start_planner();
}

bool group_member::has_planner_failed() const { return planner_task_ && planner_task_->done && planner_error_; }

awaitable<error_code> group_member::run_memberships() {
  while (!stopping_) {
    auto error = co_await join_unless_stopped();
    const auto joined = session()->now();
    if (!error) co_await obey();
    const bool was_short = session()->now() - joined < shortest_stay;
    if (auto over = session()->over()) co_return over;
    if (stopping_ && is_cancelled(error)) break;
    if (!mends(error, was_planned_for_)) co_return error;
    trouble_ = is_refused(error) ? error : error_code();
    publish();
    if (has_planner_failed() && !was_planned_for_) co_return planner_error_;
    if (draining_ && !error && is_done()) break;
    if (!was_short) pause_.reset();
    if (!stopping_ && was_short) co_await rest();
  }
  co_return error_code();
}

awaitable<void> group_member::rest() {
  const auto until = pause_.next(*get_scheduler());
  while (!stopping_ && session()->now() < until) co_await changed_.wait(until);
}

member_record group_member::present_record() const {
  const auto& options = group_->options;
  member_record record;
  record.id = options.id;
  record.capacity = static_cast<std::uint32_t>(std::lround(options.capacity * 1000));
  record.is_draining = draining_;
  record.failing = group_->health.lowered();
  record.grace = options.grace.value_or(session()->options().timeout);
  record.data = options.data;
  return record;
}

/// `stop` is heard although there may be no connection, or a server that is too busy.
awaitable<error_code> group_member::join_unless_stopped() {
  struct body {
    static awaitable<void> run(std::shared_ptr<group_member> self) {
      co_await accept_cancellation();
      self->join_error_ = co_await self->join();
    }
  };
  const auto& strand = session()->strand();
  joining_ = start_task(*get_scheduler(), strand, body::run(shared_from_this()), changed_, shared_from_this());
  bool is_cancelled = false;
  while (!joining_->done) {
    if (stopping_ && !std::exchange(is_cancelled, true)) cancel(joining_, asio::cancellation_type::total);
    co_await changed_.wait();
  }
  if (const auto failure = std::exchange(joining_, nullptr)->failure) std::rethrow_exception(failure);
  co_return join_error_;
}

awaitable<error_code> group_member::join() {
  auto error = co_await make_group(group_);
  if (error) co_return error;
  if (!planner_task_) start_planner();
  auto data = serialize(present_record());
  is_shown_draining_ = draining_;
  shown_failing_ = group_->health.lowered();
  auto node = std::make_shared<own_node>(session(), group_->where.line(), std::move(data));
  auto created = co_await node->create();
  error = std::get<0>(created);
  if (error) co_return error;
  node_ = std::move(node);
  orders_ = {};
  orders_written_ = node_->content().written;
  is_garbled_ = false;
  write_again_at_ = {};
  leave_by_ = never;
  trouble_.clear();
  co_return error_code();
}

/// Follows the orders until the membership is lost, or we are to leave.
awaitable<void> group_member::obey() {
  const auto node = node_;  // until the forwarding has ended
  const forwarding node_changes(node->changed(), changed_);
  const forwarding health_changes(group_->health.changed(), changed_);
  while (!node_->lost()) {
    group_->health.look();
    tend_planner();
    read_orders();
    follow_orders();
    publish();
    if (is_done() || has_waited_enough()) break;
    const bool must_write = must_write_record();
    if (must_write && session()->now() >= write_again_at_) {
      co_await write_record();
    } else {
      const auto until = std::min({leave_by_, plan_again_at_, group_->health.due()});
      co_await changed_.wait(must_write ? std::min(until, write_again_at_) : until);
    }
  }
  if (has_waited_enough()) co_await leave();
  co_await end_membership();
}

/// Whether there is nothing more to do in this membership.
bool group_member::is_done() const {
  if (!holdings_.empty()) return false;
  return stopping_ || (draining_ && is_shown_draining_ && orders_.empty());
}

/// Nothing if our node holds what is no record of ours.
std::optional<member_record> group_member::read_record() const {
  auto record = parse_member_record(node_->content().data);
  if (record && record->id != group_->options.id) record.reset();
  return record;
}

void group_member::read_orders() {
  if (node_->content().written == orders_written_) return;
  orders_written_ = node_->content().written;
  auto record = read_record();
  is_garbled_ = !record || !tells_the_same(*record, present_record());
  if (!record) return;  // the orders before stay
  orders_ = std::move(record->orders);
  was_planned_for_ = was_planned_for_ || orders_.plan > 0;
  is_shown_draining_ = record->is_draining;
  shown_failing_ = record->failing;
  gone_->clear();
  gone_->insert(orders_.gone.begin(), orders_.gone.end());
}

/// Begins what is ordered, and gives up what is not ordered any more.
void group_member::follow_orders() {
  forget_holdings();
  for (auto& [number, each] : holdings_) {
    if (stopping_ || !orders_.has(number)) each->give_up(at_once_);
  }
  if (stopping_) return;
  const auto begin = [this](std::uint32_t number) {
    if (number >= group_->options.shards || holdings_.contains(number)) return;
    auto fresh = std::make_shared<shard_holding>(group_, node_, number, make_, gone_, changed_);
    const auto there = holdings_.emplace(number, fresh).first;
    try {
      fresh->start(executor_);
    } catch (...) {  // no memory: one that was not started would never end
      holdings_.erase(there);
      throw;
    }
  };
  for (const auto each : orders_.own) begin(each);
  for (const auto each : orders_.expect) begin(each);
}

void group_member::give_all_up(bool at_once) {
  for (auto& each : holdings_) each.second->give_up(at_once);
}

/// One that was given up and is ordered again begins as a new one.
void group_member::forget_holdings() {
  std::erase_if(holdings_, [](const auto& each) { return each.second->is_over(); });
}

bool group_member::must_write_record() const {
  const bool is_shown = draining_ == is_shown_draining_ && group_->health.lowered() == shown_failing_;
  return !stopping_ && (is_garbled_ || !is_shown);
}

/// Tells the planner that we want to give everything away, or get nothing, or puts right what somebody else has written
/// into our node. If somebody writes at the same time, such as the planner, the next try begins with what that was.
awaitable<void> group_member::write_record() {
  if (!session()->connected()) {  // not to wait here, where orders and `stop` are heard
    write_again_at_ = pause_.next(*get_scheduler());
    co_return;
  }
  const auto there = read_record();
  auto next = present_record();
  next.orders = there ? there->orders : orders_;
  if (there) next.unknown_fields = there->unknown_fields;
  auto write = make_request(opcode::set, node_->path());
  write.data = serialize(next);
  write.version = node_->content().version;
  const auto deadline = session()->now() + session()->options().timeout;
  auto written = co_await session()->perform(std::move(write), retry::once, node_->bound(), deadline);
  if (!written.error) is_shown_draining_ = next.is_draining;
  if (!written.error) shown_failing_ = next.failing;
  if (!written.error) is_garbled_ = false;
  write_again_at_ = written.error ? pause_.next(*get_scheduler()) : lease_clock::time_point();
}

void group_member::publish() {
  std::lock_guard lock(mutex_);
  status_.member = node_ ? node_->name() : std::string();
  status_.is_draining = draining_;
  status_.trouble = trouble_;
  status_.failing = group_->health.lowered();
  status_.plan = orders_.plan;
  status_.planner_error = has_planner_failed() ? planner_error_ : error_code();
  shown_.clear();
  for (const auto& each : holdings_) shown_.push_back(each.second);
}

shard_group_status group_member::status() const {
  std::lock_guard lock(mutex_);
  auto all = status_;
  const auto phase = planner_->status().phase;
  if (!all.planner_error) all.planner_error = planning_.trouble();
  all.is_planner = phase == coordinator_phase::inaugurating || phase == coordinator_phase::executing;
  for (const auto& each : shown_) all.shards.push_back(each->status());
  return all;
}

/// The run ends for want of memory.
awaitable<void> group_member::abandon() {
  stopping_ = at_once_ = true;
  cancel(joining_, asio::cancellation_type::total);
  while (joining_ && !joining_->done) co_await changed_.wait();
  joining_.reset();
  co_await end_membership();
}

awaitable<void> group_member::end_membership() {
  while (!holdings_.empty()) {  // those of a membership that was lost end by themselves
    give_all_up(at_once_);
    forget_holdings();
    publish();
    if (!holdings_.empty()) co_await changed_.wait();
  }
  if (node_) co_await leave();
  publish();
}

/// Whether only the ends of terms are still to be written, for a session timeout already, and we are to leave: without
/// our node the heirs do not wait for us.
bool group_member::has_waited_enough() {
  const bool is_served = std::ranges::all_of(holdings_, [](const auto& each) { return each.second->is_served(); });
  if (!stopping_ || holdings_.empty() || !is_served) {
    leave_by_ = never;
  } else if (leave_by_ == never) {
    leave_by_ = session()->now() + session()->options().timeout;
  }
  return session()->now() >= leave_by_;
}

/// Nothing is ours any more but our node.
awaitable<void> group_member::leave() {
  const auto grace = group_->options.grace.value_or(session()->options().timeout);
  auto own = orders_.own;
  for (const auto each : orders_.expect) own.insert(each);
  const bool may_return = stopping_ && grace.count() > 0 && !own.empty();
  if (may_return && !node_->lost()) co_await leave_for_a_while(std::move(own));
  co_await node_->leave();
  node_.reset();
}

/// Leaves, and tells in the same transaction that our shards are to wait for us.
awaitable<void> group_member::leave_for_a_while(shard_set own) {
  const auto present = present_record();
  away_record note{present.id, present.capacity, present.grace, std::move(own), node_->name()};
  const auto path = group_->where.away_of(note.id);
  const auto deadline = session()->now() + session()->options().timeout;
  transaction first;
  first.create(path, serialize(note)).remove(node_->path());
  transaction again;
  // A note that is written over tells nobody; a child that comes and goes tells the planner.
  const auto sign = path + "%";
  again.set(path, serialize(note)).create(sign).remove(sign).remove(node_->path());
  const auto bound = node_->bound();
  node_->disown();
  error_code error;
  bool is_there = false;  // a note of ours: an older one, or that of a try whose reply was lost
  do {
    auto multi = backend::make_multi(is_there ? again : first);
    auto done = co_await session()->perform(std::move(multi), retry::once, bound, deadline);
    error = done.error;
    if (error == errc::node_exists && !std::exchange(is_there, true)) error = errc::connection_loss;  // another try
  } while (is_reply_lost(error) && session()->now() < deadline);
  node_->clear_away(bool(error));
}

}  // namespace zkrecipes::detail
