#include "balance/pace_membership.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::make_request;
using backend::opcode;

pace_membership::pace_membership(pace_place_ptr where, shared_pace_ptr pace, std::shared_ptr<condition> changed)
    : where_(std::move(where)),
      pace_(std::move(pace)),
      changed_(std::move(changed)),
      session_(where_->session),
      bound_(session_->current()),
      name_(std::string(pace_place::member_prefix) + session_->make_guid()),
      pacer_(where_, pace_, bound_, name_),
      floor_due_(session_->get_scheduler()),
      limit_due_(session_->get_scheduler()),
      list_due_(session_->get_scheduler()) {}

awaitable<error_code> pace_membership::join() {
  bool is_in = false;
  try {
    auto error = co_await enter();
    is_in = !error;
    if (is_in) start();
    if (is_in) co_return error;
    is_over_ = true;
    session_->remove_surely(own_path(), bound_);
    co_return error;
  } catch (...) {  // no memory
    if (is_in) end(error_code());
    is_over_ = true;
    pace_->suspend();
    session_->remove_surely(own_path(), bound_);
    throw;
  }
}

/// The node first: no list with the new version may lack it, however a server applies a transaction. The limit is read
/// behind our node. From then on no limit is written that does not count us, so it stays as it was
/// read until we tell a floor.
awaitable<error_code> pace_membership::enter() {
  transaction both;
  both.create(own_path(), serialize(pace_member_record{where_->id, std::nullopt}), create_mode::ephemeral);
  both.set(where_->members(), "");
  std::vector<backend::request> all{backend::make_multi(std::move(both)), make_request(opcode::get, where_->limit())};
  auto replies = co_await session_->perform_all(std::move(all), bound_);
  const auto& joined = replies[0].error;
  const bool is_ours = joined == errc::node_exists;  // the first try had its effect, and its reply was lost
  if (joined && !is_ours) co_return joined;
  auto seen = read_limit(*where_, replies[1]);
  if (seen.error) co_return seen.error;
  if (bound_->ended) co_return bound_->ended;
  pacer_.on_limit(seen);
  const auto valid_until = [session = std::weak_ptr(session_), number = bound_->number] {
    const auto alive = session.lock();
    return alive ? alive->valid_until(number) : lease_clock::time_point{};
  };
  pace_->admit(seen.record.limit, valid_until);
  holder_ = session_->add_holder(*changed_);  // last: what can not be begun has none
  co_return error_code();
}

void pace_membership::start() {
  const auto& strand = session_->strand();
  announcing_.run(strand, owning(shared_from_this(), &pace_membership::announce_floor));
  following_limit_.run(strand, owning(shared_from_this(), &pace_membership::follow_limit));
  following_list_.run(strand, owning(shared_from_this(), &pace_membership::follow_list));
  pacing_.run(strand, owning(shared_from_this(), &pace_membership::set_pace));
}

void pace_membership::end(error_code why) {
  if (std::exchange(is_over_, true)) return;
  why_ = why;
  pace_->suspend();
  session_->remove_holder(holder_);
  for (auto* each : {&announcing_, &following_limit_, &following_list_, &pacing_}) each->stop();
  changed_->notify();
}

/// The first try is sent at once, so that it fails at once where there is no connection: a request that waits for one
/// would do so up to the limit of the retries.
awaitable<error_code> pace_membership::leave() {
  end(error_code());
  exchange_ptr sent;
  if (!bound_->ended) sent = session_->send(make_request(opcode::remove, own_path()));
  auto removing = session_->remove_surely(own_path(), bound_, std::move(sent));
  if (pacer_.may_be_aside()) session_->remove_surely(where_->aside(name_), bound_);
  while (!removing->is_over && !is_reply_lost(removing->answer) && !leaves_node(removing->answer)) {
    if (co_await removing->changed.wait() == wake::cancelled) co_return asio::error::operation_aborted;
  }
  co_return removing->is_over ? error_code() : removing->answer;
}

/// True: the membership is over, or this task has been stopped.
bool pace_membership::end_if(const error_code& error) {
  if (is_expired(error) || error == errc::foreign_data || error == errc::size_mismatch || error == errc::no_auth) {
    end(error);
  }
  if (forbids_retry(error)) end(error);
  return is_over_;
}

void pace_membership::record_error(error_code& with, const error_code& error) {
  if (is_over_ || with == error) return;
  with = error;
  changed_->notify();
}

void pace_membership::record_obstacle(const error_code& error) {
  auto found = error ? pacer::obstacle{error, {}} : pacer_.find_obstacle();
  if (std::exchange(obstacle_, std::move(found.path)) != obstacle_) changed_->notify();
  record_error(pacing_error_, found.error);
}

awaitable<void> pace_membership::rest() {
  back_off pause(session_->options().retry.first_pause, session_->options().retry.max_pause);
  co_await session_->rest(pause, bound_);
}

awaitable<void> pace_membership::announce_floor() {
  pace_member_record record{where_->id, std::nullopt};
  bool is_told = true;
  while (!is_over_) {
    if (const auto next = pace_->next_floor()) {
      record.floor = *next;
      is_told = false;
      pacer_.on_own_floor();  // it need not wait for the server to know our floor
    }
    if (is_told) {
      co_await floor_due_.wait();
      continue;
    }
    auto write = make_request(opcode::set, own_path());
    write.data = serialize(record);
    auto written = co_await session_->perform(std::move(write), retry::always, bound_);
    is_told = !written.error;
    if (written.error == errc::no_node) end(errc::node_removed);
    if (end_if(written.error)) co_return;
    record_error(announcing_error_, written.error);
    if (written.error) co_await rest();
  }
}

awaitable<void> pace_membership::follow_limit() {
  while (!is_over_) {
    auto hint = session_->arm(watch_kind::data, where_->limit(), limit_due_);
    const auto wanted = looks_wanted_;
    auto node = co_await session_->perform(make_request(opcode::get, where_->limit(), true), retry::always, bound_);
    auto seen = read_limit(*where_, node);
    if (seen.error == errc::no_node) end(errc::no_node);
    if (end_if(seen.error)) co_return;
    if (seen.error) {
      co_await rest();
      continue;
    }
    limit_looks_ = wanted;
    pacer_.on_limit(seen);
    pace_->raise(seen.record.limit);
    while (!is_over_ && !hint->fired() && limit_looks_ == looks_wanted_) co_await limit_due_.wait();
  }
}

/// A list in which we are missing, or that is missing itself, means that our node was removed.
awaitable<void> pace_membership::follow_list() {
  while (!is_over_) {
    auto hint = session_->arm(watch_kind::children, where_->members(), list_due_);
    const auto wanted = looks_wanted_;
    auto listed =
        co_await session_->perform(make_request(opcode::children, where_->members(), true), retry::always, bound_);
    if (listed.error == errc::no_node) end(errc::node_removed);
    if (end_if(listed.error)) co_return;
    if (listed.error) {
      co_await rest();
      continue;
    }
    list_looks_ = wanted;
    if (!on_list(listed)) co_return end(errc::node_removed);
    while (!is_over_ && !hint->fired() && list_looks_ == looks_wanted_) co_await list_due_.wait();
  }
}

bool pace_membership::on_list(const backend::reply& listed) {
  if (std::ranges::find(listed.children, name_) == listed.children.end()) return false;
  const bool was_first = pacer_.is_first();
  pacer_.on_list(listed.children, listed.stat.version);
  if (was_first != pacer_.is_first()) changed_->notify();
  return true;
}

void pace_membership::look_again() {
  ++looks_wanted_;
  limit_due_.notify();
  list_due_.notify();
}

awaitable<void> pace_membership::set_pace() {
  while (!is_over_) {
    const bool was_first = pacer_.is_first();
    const auto done = co_await pacer_.work();
    if (end_if(done.error)) co_return;
    if (was_first != pacer_.is_first()) changed_->notify();
    record_obstacle(done.error);
    if (done.lost_race) {
      look_again();
      while (!is_over_ && (limit_looks_ != looks_wanted_ || list_looks_ != looks_wanted_)) {
        co_await pacer_.changed().wait();
      }
    } else if (done.error) {
      co_await rest();
    } else if (!done.did_something && !is_over_) {
      co_await pacer_.changed().wait(pacer_.next_look());
    }
  }
}

}  // namespace zkrecipes::detail
