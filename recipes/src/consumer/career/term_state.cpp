#include "career/term_state.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/transaction.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes {

using namespace detail;

const char* to_string(term_end reason) noexcept {
  switch (reason) {
    case term_end::resigned: return "resigned";
    case term_end::revoked: return "revoked";
    case term_end::suspended: return "suspended";
    case term_end::lost: return "lost";
    case term_end::stalled: return "stalled";
    case term_end::failed: return "failed";
    case term_end::superseded: return "superseded";
  }
  return "?";
}

term::term(std::shared_ptr<term_state> state) noexcept : state_(std::move(state)) {}
std::int64_t term::epoch() const noexcept { return state_ ? state_->record().epoch : 0; }
std::int64_t term::token() const noexcept { return state_ ? state_->record().leader_token : 0; }
takeover term::how() const noexcept { return state_ ? state_->record().how : takeover::first; }
session term::get_session() const noexcept { return state_ ? session(state_->session()) : session(); }
bool term::ending() const noexcept { return !state_ || state_->ending(); }

std::shared_ptr<void> term::idle() const {
  return state_ ? work_clock::idle(std::shared_ptr<work_clock>(state_, &state_->work())) : nullptr;
}

lease_clock::time_point term::valid_until() const {
  return state_ ? state_->seat()->valid_until() : lease_clock::time_point{};
}

transaction term::fenced(transaction operations) const {
  if (state_) return state_->fenced(std::move(operations));
  return transaction().check(no_path()).append(std::move(operations));
}

void term::start_commit(handler_for<void(error_code)> h, state_ptr state, transaction operations) {
  launch(*state->session()->get_scheduler(), std::move(h), owning(state, &term_state::commit, std::move(operations)));
}

void term::start_ending(handler_for<void(error_code, term_end)> h, state_ptr state) {
  launch(*state->session()->get_scheduler(), std::move(h), owning(state, &term_state::wait_ending),
         persistence::endless);
}

boost::asio::awaitable<void> leader_career::ended(term, term_end) { co_return; }

}  // namespace zkrecipes

namespace zkrecipes::detail {

void work_clock::set_since(lease_clock::time_point since) {
  const bool was_idle = std::exchange(since_, since) == never;
  if (was_idle && since != never) changed_.notify();  // the time limit counts from now on
}

std::shared_ptr<void> work_clock::idle(std::shared_ptr<work_clock> self) {
  asio::post(self->session_->strand(), [self] { ++self->idle_; });
  auto work_goes_on = [self](void*) {
    asio::post(self->session_->strand(), [self] {
      self->idle_until_ = self->session_->now();
      if (--self->idle_ == 0) self->changed_.notify();
    });
  };
  return std::shared_ptr<void>(nullptr, work_goes_on);
}

namespace {

// Finds out by the nodes concerned whether a transaction whose reply was lost was executed.

enum class effects {
  all,   ///< All nodes look as if it was done: it was, or it makes no difference.
  none,  ///< All nodes look as if it was not done: it was not.
  some,  ///< It can not be told: another client changes these nodes, too, or none can be judged.
};

bool draws_number(create_mode mode) {
  return mode == create_mode::persistent_sequential || mode == create_mode::ephemeral_sequential;
}

/// Whether the operation was done, as the node shows. Nothing if the node would look the same either way.
std::optional<bool> is_done(const operation& what, const backend::reply& node) {
  const bool is_there = !node.error;
  switch (what.type) {
    case operation::kind::remove: return !is_there;
    case operation::kind::create:
      if (draws_number(what.mode)) return std::nullopt;
      return is_there && node.data == what.data;
    case operation::kind::set:
      if (what.version == any_version) return std::nullopt;
      if (is_there && node.stat.version > what.version + 1) return std::nullopt;  // somebody has written since
      return is_there && node.data == what.data && node.stat.version == what.version + 1;
    case operation::kind::check: break;
  }
  return std::nullopt;
}

/// Looks at the operations that can not succeed twice: removals, creates, and sets from a known version. Sequential
/// creates tell nothing. One round trip.
awaitable<outcome<effects>> check_effects(core_ptr session, transaction of) {
  std::vector<backend::request> looks;
  for (const auto& each : of.operations()) looks.push_back(backend::make_request(backend::opcode::get, each.path));
  // A node that the transaction changes twice tells nothing of the first change.
  std::map<std::string, int> times;
  for (const auto& each : of.operations()) ++times[each.path];
  auto seen = co_await session->perform_all(std::move(looks));
  std::size_t done = 0;
  std::size_t not_done = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].error && seen[i].error != errc::no_node) co_return outcome<effects>(seen[i].error, effects::some);
    const auto verdict = is_done(of.operations()[i], seen[i]);
    if (verdict && times[of.operations()[i].path] == 1) ++(*verdict ? done : not_done);
  }
  auto sum = effects::some;  // also if no operation could be judged
  if (done && !not_done) sum = effects::all;
  if (not_done && !done) sum = effects::none;
  co_return outcome<effects>(error_code(), sum);
}

}  // namespace

bool is_end_of_term(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    const auto& code = error.code();
    return is_loss(code) || is_fatal(code) || code == errc::superseded || code == errc::outcome_unknown ||
           code == errc::connection_loss || code == boost::asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

using backend::opcode;

namespace {

/// Whether an operation that can not succeed twice fails in this way after it has succeeded once.
bool is_refusal_to_repeat(const error_code& error) {
  return error == errc::no_node || error == errc::node_exists || error == errc::bad_version;
}

/// Whether the error tells nothing about the term: the connection broke, the session is over (the next one can do it
/// under the same term), or a server refused (because it throttles, for example).
bool is_passing(const error_code& error) { return may_have_happened(error) || is_server_refusal(error); }

/// Whether a look at the record can tell more than this answer to a write of it.
bool is_unclear(const error_code& error) {
  return is_passing(error) || error == errc::no_node || error == errc::bad_version;
}

/// Pauses before another try if a server has refused. Error: `operation_aborted`.
awaitable<error_code> rest(core_ptr session, error_code answer, back_off& pause) {
  if (answer != errc::server_error) co_return error_code();
  const bool rested = co_await session->rest(pause);
  // A session that is over is no error here, because the next try reports it.
  co_return rested || session->over() ? error_code() : make_error_code(asio::error::operation_aborted);
}

/// Decides between two cases: an earlier try was done, which is why this one was refused; or neither was done.
awaitable<error_code> judge_refusal(core_ptr session, transaction operations, error_code refusal, back_off& pause) {
  for (;;) {
    auto looked = co_await check_effects(session, operations);
    auto& [error, seen] = looked;
    if (is_passing(error)) {
      error = co_await rest(session, error, pause);
      if (!error) continue;
    }
    if (error == asio::error::operation_aborted) co_return error;
    if (error || seen == effects::some) co_return errc::outcome_unknown;
    co_return seen == effects::all ? error_code() : refusal;
  }
}

}  // namespace

term_state::term_state(term_seat_ptr seat, term_record record, std::int32_t version)
    : seat_(std::move(seat)),
      record_(std::move(record)),
      unknown_fields_(record_.unknown_fields),
      changed_(session()->get_scheduler()),
      work_(session(), changed_),
      notes_(record_, version, session(), changed_),
      deaths_(record_.deaths),
      version_(version) {}

bool term_state::ending() const { return reason().has_value(); }

std::optional<term_end> term_state::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

void term_state::end(term_end reason) {
  const auto& bound = *seat_->bound();
  const auto lease_end = bound.ended ? bound.lease_end : session()->valid_until(bound.number);
  if (!ending()) {
    over_since_ = std::min(session()->now(), lease_end);
    std::lock_guard lock(mutex_);
    reason_ = reason;
  }
  changed_.notify();
}

lease_clock::time_point term_state::end_by() const {
  if (overtaken_) return {};
  // Zero means that no successor has to wait for us. An orderly end takes time all the same, so it gets the session
  // timeout.
  const auto declared = record_.hand_over_deadline;
  return over_since_ + (declared.count() ? declared : session()->options().timeout);
}

transaction term_state::fenced(transaction operations) const {
  return transaction().check(seat_->record_path(), version_).append(std::move(operations));
}

/// Reads the record again: is the term still ours, and what is the version now?
awaitable<error_code> term_state::refresh(std::optional<term_phase>* found, lease_clock::time_point deadline) {
  auto look = make_request(opcode::get, seat_->record_path());
  auto result = co_await session()->perform(std::move(look), retry::always, nullptr, deadline);
  if (result.error && result.error != errc::no_node) co_return result.error;
  auto present = result.error ? std::nullopt : parse_record(result.data);
  // Somebody has declared us dead, by mistake: a successor may begin at any moment.
  const bool is_given_up = present && present->epoch == record_.epoch && present->phase == term_phase::died;
  const bool is_ours = present && present->epoch == record_.epoch && present->leader_node == record_.leader_node;
  if (!is_ours || is_given_up) {
    overtaken_ = overtaken_ || is_given_up || (present && present->epoch > record_.epoch);
    end(term_end::superseded);
    co_return errc::superseded;
  }
  if (found) *found = present->phase;
  unknown_fields_ = std::move(present->unknown_fields);
  deaths_ = std::min(deaths_, present->deaths);  // a commit whose answer is not here yet may have forgotten them
  version_ = result.stat.version;
  co_return error_code();
}

/// A career without a queue consumer settles its messages by itself, so its commits count as progress while it
/// executes. Names in the record are judged by a queue consumer only.
awaitable<outcome<>> term_state::commit(transaction operations) {
  std::optional<json_object> no_notes;
  auto result = co_await settle(std::move(operations), std::move(no_notes));
  const bool is_at_work = wanted_ == term_phase::executing && !notes_.name_messages();
  if (!result.error && is_at_work) notes_.record_progress();
  co_return outcome<>(result.error);
}

/// The check of the record's version; or a write from that version, which shows the notes, and that the term has made
/// progress where predecessors have died. Once the phase is `handing_over`, the next single write has to be `retired`,
/// so the notes wait.
transaction term_state::fence(const std::optional<json_object>& notes, std::int64_t deaths, bool can_write) const {
  const bool may_write = can_write && shown_ == term_phase::executing && wanted_ == term_phase::executing;
  const bool must_write = notes || deaths_ != deaths;
  if (!must_write || !may_write) return transaction().check(seat_->record_path(), version_);
  auto next = record_;
  next.phase = shown_;
  next.notes = notes.value_or(notes_.written());
  next.deaths = deaths;
  next.unknown_fields = unknown_fields_;
  return transaction().set(seat_->record_path(), serialize(next), version_);
}

awaitable<term_state::commit_result> term_state::settle(transaction operations, std::optional<json_object> notes) {
  const auto& policy = session()->options().retry;
  back_off pause(policy.first_pause, policy.max_pause);
  bool maybe_done = false;                              // an earlier try may have been executed
  bool can_write = true;                                // the record
  const bool only_notes = notes && operations.empty();  // they name what has not succeeded yet
  for (;;) {
    const auto deaths = only_notes ? deaths_ : 0;
    auto all = fence(notes, deaths, can_write);
    const bool writes = all.operations().front().type == operation::kind::set;
    auto multi = backend::make_multi(std::move(all.append(operations)));
    auto result = co_await session()->perform(std::move(multi), retry::once);
    if (!result.error) {
      if (!writes) co_return commit_result{};
      if (notes) notes_.on_written(std::move(*notes));
      if (std::exchange(deaths_, deaths) != deaths) changed_.notify();
      version_ = result.results[0].stat.version;
      co_return commit_result{};
    }
    if (result.error == errc::connection_loss) maybe_done = maybe_done || result.sent;
    if (result.results.empty() || result.error == errc::session_expired) {
      if (!is_passing(result.error)) co_return commit_result{result.error};
      auto error = co_await rest(session(), result.error, pause);
      if (error) co_return commit_result{error};
      continue;
    }
    if (result.results[0].error == errc::rolled_back) {  // the fence holds, one of the operations failed
      const auto refused = static_cast<std::size_t>(failed_at(result) - 1);
      if (!maybe_done) co_return commit_result{result.error, refused};
      if (!is_refusal_to_repeat(result.error)) co_return commit_result{errc::outcome_unknown};
      auto error = co_await judge_refusal(session(), operations, result.error, pause);
      co_return commit_result{error, refused};
    }
    // The record may be read and not written: the notes are left out then.
    const bool is_conflict = is_write_conflict(result.error);
    if (writes && !is_conflict && !is_passing(result.error)) {
      if (operations.empty()) co_return commit_result{result.error};
      can_write = false;
      continue;
    }
    // We may have written another phase of the same term into the record ourselves.
    auto error = co_await refresh(nullptr, never);
    if (error == errc::superseded && maybe_done) error = errc::outcome_unknown;
    if (is_passing(error)) error = co_await rest(session(), error, pause);
    if (error) co_return commit_result{error};
  }
}

/// A term that ended by an exception, or hung before its work began, has failed like one whose process has died. One
/// that ended in order ends the row. `stalled` counts as a failure by itself.
void term_state::count_deaths(term_record& next, term_phase phase) const {
  next.deaths = deaths_;
  next.struck = record_.struck;
  if (phase != term_phase::retired) return;
  if (has_failed()) {
    seat_->record_failure(next);
  } else {
    next.deaths = 0;
  }
}

bool term_state::has_failed() const {
  const auto why = reason();
  return why == term_end::failed || (why == term_end::stalled && !has_executed_);
}

awaitable<void> term_state::forget_deaths() {
  if (deaths_ == 0) co_return;
  transaction nothing;
  std::optional<json_object> present;  // as they are when it is written
  co_await settle(std::move(nothing), std::move(present));
}

awaitable<outcome<term_end>> term_state::wait_ending() {
  for (;;) {
    if (auto why = reason()) co_return outcome<term_end>(error_code(), *why);
    auto woken = co_await changed_.wait();
    if (woken == wake::cancelled) co_return outcome<term_end>(asio::error::operation_aborted, term_end::resigned);
  }
}

awaitable<error_code> term_state::publish(term_phase phase, bool and_leave, lease_clock::time_point deadline) {
  wanted_ = phase;
  has_executed_ = has_executed_ || phase == term_phase::executing;
  while (writing_) {
    auto why = co_await changed_.wait(deadline);
    if (why == wake::timed_out && writing_) co_return errc::timed_out;
  }
  // Writes wait in no certain order. Nothing is written behind the last phase: a successor would wait for an end.
  if (is_finished()) co_return errc::timed_out;
  writing_ = true;
  error_code error;
  std::exception_ptr failure;
  try {
    error = co_await write(phase, and_leave, deadline);
  } catch (...) {  // no memory: the next write must not wait for this one
    failure = std::current_exception();
  }
  writing_ = false;
  changed_.notify();
  if (failure) std::rethrow_exception(failure);
  co_return error;
}

awaitable<error_code> term_state::write(term_phase phase, bool and_leave, lease_clock::time_point deadline) {
  term_record next = record_;
  next.phase = phase;
  for (;;) {
    transaction changes;
    // Anew for each try: a commit that was under way may have written them meanwhile.
    next.notes = notes_.at(phase);
    count_deaths(next, phase);
    next.unknown_fields = unknown_fields_;
    const std::int32_t before = version_;
    changes.set(seat_->record_path(), serialize(next), before);
    // Two writes, because a successor that saw `handing_over` takes the next version for `retired`, unread.
    if (phase == term_phase::stalled) changes.set(seat_->record_path(), serialize(next), before + 1);
    if (and_leave) seat_->add_leave(changes);
    auto multi = backend::make_multi(changes);
    auto result = co_await session()->perform(std::move(multi), retry::once, nullptr, deadline);
    if (!result.error) {
      shown_ = phase;
      version_ = phase == term_phase::stalled ? before + 2 : before + 1;
      co_return error_code();
    }
    if (!is_unclear(result.error)) co_return result.error;
    if (wanted_ != phase) co_return errc::timed_out;  // the next phase has begun meanwhile
    if (result.error == errc::server_error) {
      co_await changed_.wait(session()->now() + session()->options().retry.first_pause);
    }
    // Our seat has gone already: only the record is left to be written.
    if (and_leave && !result.results.empty() && result.results.back().error == errc::no_node) and_leave = false;
    std::optional<term_phase> found;
    auto error = co_await refresh(&found, deadline);
    if (error && error != errc::connection_loss && error != errc::server_error) co_return error;
    if (found == phase) {
      shown_ = phase;
      co_return error_code();
    }
    if (session()->now() < deadline) continue;
    co_return result.error == errc::server_error ? result.error : make_error_code(errc::timed_out);
  }
}

}  // namespace zkrecipes::detail
