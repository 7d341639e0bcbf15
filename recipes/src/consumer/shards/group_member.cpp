#include "shards/group_member.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// What a member tells of itself, but whether it drains.
bool have_same_contents(const member_record& a, const member_record& b) {
  return a.id == b.id && a.capacity == b.capacity && a.grace == b.grace && a.data == b.data;
}

}  // namespace

member_record own_record::present(bool is_draining) const {
  const auto& options = group_->options;
  member_record record;
  record.id = options.id;
  record.capacity = static_cast<std::uint32_t>(std::lround(options.capacity * 1000));
  record.is_draining = is_draining;
  record.failing = group_->health.lowered();
  record.grace = options.grace.value_or(group_->session->options().timeout);
  record.data = options.data;
  return record;
}

std::string own_record::begin(bool is_draining) {
  auto data = serialize(present(is_draining));
  is_shown_draining_ = is_draining;
  shown_failing_ = group_->health.lowered();
  return data;
}

void own_record::on_joined(own_node_ptr node) {
  node_ = std::move(node);
  orders_ = {};
  orders_written_ = node_->content().written;
  is_garbled_ = false;
  write_again_at_ = {};
}

/// Nothing if our node holds what is no record of ours.
std::optional<member_record> own_record::parse() const {
  auto record = parse_member_record(node_->content().data);
  if (record && record->id != group_->options.id) record.reset();
  return record;
}

bool own_record::read(bool is_draining) {
  if (node_->content().written == orders_written_) return false;
  orders_written_ = node_->content().written;
  auto record = parse();
  is_garbled_ = !record || !have_same_contents(*record, present(is_draining));
  if (!record) return false;
  orders_ = std::move(record->orders);
  is_shown_draining_ = record->is_draining;
  shown_failing_ = record->failing;
  return true;
}

bool own_record::is_outdated(bool is_draining) const {
  return is_garbled_ || is_draining != is_shown_draining_ || group_->health.lowered() != shown_failing_;
}

awaitable<void> own_record::write(bool is_draining, back_off& pause) {
  const auto& session = group_->session;
  if (!session->connected()) {  // not to wait here, where orders and `stop` are heard
    write_again_at_ = pause.next(*session->get_scheduler());
    co_return;
  }
  const auto there = parse();
  auto next = present(is_draining);
  next.orders = there ? there->orders : orders_;
  if (there) next.unknown_fields = there->unknown_fields;
  auto write = make_request(opcode::set, node_->path());
  write.data = serialize(next);
  write.version = node_->content().version;
  const auto deadline = session->now() + session->options().timeout;
  auto written = co_await session->perform(std::move(write), retry::once, node_->bound(), deadline);
  if (!written.error) is_shown_draining_ = next.is_draining;
  if (!written.error) shown_failing_ = next.failing;
  if (!written.error) is_garbled_ = false;
  write_again_at_ = written.error ? pause.next(*session->get_scheduler()) : lease_clock::time_point();
}

using namespace std::chrono_literals;

namespace {

/// A member that loses its node sooner pauses before it joins again. With a lease that has lapsed, or an operator who
/// removes the node, it would be lost again at once.
constexpr auto shortest_stay = 1s;
constexpr std::chrono::milliseconds longest_join_pause = 10s;

/// Tells in one transaction that we leave, and that our shards are to wait for us. `node` is disowned.
awaitable<error_code> take_leave(own_node_ptr node, std::string path, away_record note) {
  const auto& session = node->session();
  const auto deadline = session->now() + session->options().timeout;
  transaction first;
  first.create(path, serialize(note)).remove(node->path());
  transaction again;
  // A note that is written over tells nobody; a child that comes and goes tells the planner.
  const auto sign = path + "%";
  again.set(path, serialize(note)).create(sign).remove(sign).remove(node->path());
  const auto bound = node->bound();
  error_code error;
  bool is_there = false;  // a note of ours: an older one, or that of a try whose reply was lost
  do {
    auto multi = backend::make_multi(is_there ? again : first);
    auto done = co_await session->perform(std::move(multi), retry::once, bound, deadline);
    error = done.error;
    if (error == errc::node_exists && !std::exchange(is_there, true)) error = errc::connection_loss;  // another try
  } while (is_reply_lost(error) && session->now() < deadline);
  co_return error;
}

awaitable<void> leave_temporarily(own_node_ptr node, std::string path, away_record note) {
  node->disown();
  try {
    auto leaving = take_leave(node, std::move(path), std::move(note));
    const auto error = co_await std::move(leaving);
    node->clear_away(bool(error));
  } catch (...) {  // no memory: nobody else would remove the node
    node->clear_away(true);
    throw;
  }
}

}  // namespace

group_member::group_member(group_frame_ptr group)
    : group_(std::move(group)),
      changed_(get_scheduler()),
      gone_(std::make_shared<std::set<std::string, std::less<>>>()),
      record_(group_),
      planner_(group_, changed_),
      pause_(session()->options().retry.first_pause,
             std::max(longest_join_pause, session()->options().retry.max_pause)) {}

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
  co_await planner_.end();
  make_ = nullptr;
  was_planned_for_ = false;
  stopping_ = at_once_ = draining_ = false;
  publish();
  running_ = false;
  if (failure) std::rethrow_exception(failure);
  co_return outcome<>(error);
}

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
    if (planner_.failure() && !was_planned_for_) co_return planner_.failure();
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
  if (!planner_.is_started()) planner_.start(shared_from_this());
  auto data = record_.begin(draining_);
  auto node = std::make_shared<own_node>(session(), group_->where.line(), std::move(data));
  auto created = co_await node->create();
  error = std::get<0>(created);
  if (error) co_return error;
  node_ = std::move(node);
  record_.on_joined(node_);
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
    // A run that nobody has planned for yet ends, so that its user is told.
    if (planner_.failure() && !was_planned_for_) stop(false);
    if (planner_.failure() && was_planned_for_) planner_.start_again_if_due(shared_from_this());
    read_orders();
    follow_orders();
    publish();
    if (is_done() || has_waited_enough()) break;
    const bool must_write = !stopping_ && record_.is_outdated(draining_);
    if (must_write && session()->now() >= record_.next_write()) {
      co_await record_.write(draining_, pause_);
    } else {
      const auto until = std::min({leave_by_, planner_.due(), group_->health.due()});
      co_await changed_.wait(must_write ? std::min(until, record_.next_write()) : until);
    }
  }
  if (has_waited_enough()) co_await leave();
  co_await end_membership();
}

/// Whether there is nothing more to do in this membership.
bool group_member::is_done() const {
  if (!holdings_.empty()) return false;
  return stopping_ || (draining_ && record_.shows_draining() && record_.orders().empty());
}

void group_member::read_orders() {
  if (!record_.read(draining_)) return;
  was_planned_for_ = was_planned_for_ || record_.orders().plan > 0;
  gone_->clear();
  gone_->insert(record_.orders().gone.begin(), record_.orders().gone.end());
}

/// Begins what is ordered, and gives up what is not ordered any more.
void group_member::follow_orders() {
  forget_holdings();
  for (auto& [number, each] : holdings_) {
    if (stopping_ || !record_.orders().has(number)) each->give_up(at_once_);
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
  for (const auto each : record_.orders().own) begin(each);
  for (const auto each : record_.orders().expect) begin(each);
}

void group_member::give_all_up(bool at_once) {
  for (auto& each : holdings_) each.second->give_up(at_once);
}

/// One that was given up and is ordered again begins as a new one.
void group_member::forget_holdings() {
  std::erase_if(holdings_, [](const auto& each) { return each.second->is_over(); });
}

void group_member::publish() {
  std::lock_guard lock(mutex_);
  status_.member = node_ ? node_->name() : std::string();
  status_.is_draining = draining_;
  status_.trouble = trouble_;
  status_.failing = group_->health.lowered();
  status_.plan = record_.orders().plan;
  status_.planner_error = planner_.failure();
  shown_.clear();
  for (const auto& each : holdings_) shown_.push_back(each.second);
}

shard_group_status group_member::status() const {
  std::lock_guard lock(mutex_);
  auto all = status_;
  planner_.show_in(all);
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
  auto own = record_.orders().own;
  for (const auto each : record_.orders().expect) own.insert(each);
  const bool may_return = stopping_ && grace.count() > 0 && !own.empty();
  if (may_return && !node_->lost()) {
    const auto present = record_.present(draining_);
    away_record note{present.id, present.capacity, present.grace, std::move(own), node_->name()};
    auto path = group_->where.away_of(note.id);
    auto leaving = leave_temporarily(node_, std::move(path), std::move(note));
    co_await std::move(leaving);
  }
  co_await node_->leave();
  node_.reset();
  record_.on_left();
}

}  // namespace zkrecipes::detail
