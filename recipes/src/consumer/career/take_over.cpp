#include "career/take_over.hpp"

#include <utility>

#include "election/term_history.hpp"
#include "session/back_off.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Whether another try can tell: the connection broke, or a server refused (because it throttles, for example).
bool may_pass_by(const error_code& error) { return error == errc::connection_loss || error == errc::server_error; }

/// Waits until the given time or a change. Returns at once if we have to give up or the seat is lost, because the
/// notification of that may have come before we wait.
awaitable<void> wait_unless_over(const take_over_request& what, condition& changed, lease_clock::time_point until) {
  const bool is_over = what.give_up() || what.seat->lost();
  if (!is_over) co_await changed.wait(until);
}

/// The first that is resumed takes the turn, so that the others do not read their records in vain.
awaitable<void> wait_for_turn(const take_over_request& what, condition& changed) {
  const forwarding turns(what.seat->turn_changed(), changed);
  while (!what.give_up() && !what.seat->lost() && !what.seat->take_turn()) co_await changed.wait();
}

/// Pauses before another try if a server has refused.
awaitable<void> rest(const take_over_request& what, condition& changed, const error_code& refusal, back_off& pause) {
  if (refusal != errc::server_error) co_return;
  what.seat->pass_turn();
  co_await wait_unless_over(what, changed, pause.next(*what.seat->session()->get_scheduler()));
}

/// The leader of a term that is not finished: is it still there, and since when is it known to have gone?
class predecessor {
 public:
  /// `since`: when it has gone, if that was before the take-over.
  explicit predecessor(lease_clock::time_point since) : since_(since) {}

  awaitable<error_code> look(term_seat& seat, const term_record& term, condition& changed) {
    auto looked = co_await seat.watch_leader(term, changed);
    const auto error = std::get<0>(looked);
    if (error) co_return error;
    leader_ = std::move(std::get<1>(looked));
    const bool is_known = has_gone_ && epoch_ == term.epoch;
    has_gone_ = !leader_;
    epoch_ = term.epoch;
    if (has_gone_ && !is_known && !seat.comes_after_its_leader()) since_ = seat.session()->now();
    co_return error;
  }
  bool has_gone() const { return has_gone_; }
  bool has_changed() const { return leader_ && leader_->fired(); }
  lease_clock::time_point deadline(const term_record& term) const {
    return leader_ ? never : since_ + term.hand_over_deadline;
  }

 private:
  watch_ptr leader_;
  bool has_gone_ = false;
  std::int64_t epoch_ = 0;  // of its term
  lease_clock::time_point since_;
};

/// The leader of a term that has died: what it had sent may act for as long as it declared.
class dead_predecessor {
 public:
  /// Until when to wait; the look that shows the term is done. Counted from the first one.
  lease_clock::time_point aftermath_end(const term_record& term, lease_clock::time_point present) {
    if (epoch_ != term.epoch) seen_ = present;
    epoch_ = term.epoch;
    return seen_ + term.aftermath;
  }

 private:
  std::int64_t epoch_ = 0;
  lease_clock::time_point seen_{};
};

/// Whether the term before has not ended by an act of its leader.
bool is_by_force(takeover how) { return how == takeover::forced || how == takeover::died; }

/// Crashes are counted until a term has settled something. A predecessor that died may have died of a message that it
/// named. It may also have used all of its limit, so the level of a forced term is not known.
consumer_notes next_notes(const term_record& before, takeover how) {
  consumer_notes next;
  next.crashes = before.notes.crashes;
  next.in_hand = before.notes.in_hand;
  if (!is_by_force(how)) {
    next.limit_level = before.notes.limit_level;
    return next;
  }
  const auto last_phase = before.phase == term_phase::died ? before.died_in : before.phase;
  const bool was_at_work = last_phase == term_phase::executing || last_phase == term_phase::handing_over;
  if (was_at_work) ++next.crashes;
  return next;
}

term_record next_record(const take_over_request& what, const known_record& known, takeover how) {
  const auto& before = known.record;
  term_record next;
  next.epoch = before.epoch + 1;
  next.phase = term_phase::inaugurating;
  next.how = how;
  next.hand_over_deadline = what.hand_over_deadline;
  next.aftermath = what.aftermath;
  next.notes = next_notes(before, how);
  if (what.seat->keeps_history()) next.history = history_after(before, how, known.mtime);
  next.unknown_fields = before.unknown_fields;
  what.seat->sign(next, before, known.mtime);
  return next;
}

/// Told before the record is written, so that there is no moment at which the process could die in office, unguarded.
term_guard_ptr guard_of(const term_seat& seat, const term_record& record) {
  const auto& session = *seat.session();
  const auto& guardian = session.guardian();
  if (!guardian) return nullptr;
  const auto& place = seat.node_path();
  const auto& paths = session.paths();
  return guardian->hold({seat.bound()->key.id, paths.full(seat.record_path()), record.leader_node,
                         place.empty() ? place : paths.full(place)});
}

/// The new version of the record fences every later write of the previous term, and the check makes sure that our seat
/// is still there. A forced term begins with two writes, because a candidate that saw the predecessor hand over
/// would take a single one for its `retired`.
awaitable<backend::reply> write_record(const take_over_request& what, const term_record& record, std::int32_t version) {
  const auto& seat = *what.seat;
  const auto& session = seat.session();
  const auto data = serialize(record);
  transaction all;
  all.set(seat.record_path(), data, version);
  if (record.how == takeover::forced) all.set(seat.record_path(), data, version + 1);
  seat.add_check(all);
  auto multi = backend::make_multi(all);
  const auto deadline = session->now() + session->options().timeout;
  co_return co_await session->perform(std::move(multi), retry::once, seat.bound(), deadline);
}

/// Errors: `busy` (it is not the turn of our seat), `bad_version` (the record has changed), `no_node` (our seat has
/// gone, or the record), `foreign_data` (no term can follow: nobody could read its record).
/// `guard`: made at the first try, and kept by the caller if a reply was lost, because the record may name us then.
awaitable<outcome<term_ptr>> begin(const take_over_request& what, const known_record& before, takeover how,
                                   term_guard_ptr& guard) {
  if (before.record.epoch == last_epoch) co_return failed<term_ptr>(errc::foreign_data);
  auto next = next_record(what, before, how);
  if (auto why = what.seat->objection(next)) co_return failed<term_ptr>(why);
  if (!guard) guard = guard_of(*what.seat, next);
  auto written = co_await write_record(what, next, before.version);
  if (written.error) co_return failed<term_ptr>(written.error);
  const auto& stat = written.results[how == takeover::forced ? 1 : 0].stat;
  what.seat->note_begun(next, stat.mzxid, stat.mtime);
  if (what.seat->keeps_history()) next.began_ms = stat.mtime;
  auto begun = std::make_shared<term_state>(what.seat, std::move(next), stat.version);
  begun->set_guard(std::move(guard));
  co_return outcome<term_ptr>(error_code(), std::move(begun));
}

/// Begins a term by one write, without a look, if the known record is still right; the version check tells. A leader
/// that was last seen handing over, and has left the line, has retired with its next write, because every other end of
/// a term takes two writes.
awaitable<term_ptr> begin_as_known(take_over_request what, term_guard_ptr& guard) {
  if (!what.known) co_return nullptr;
  auto known = *what.known;
  auto& before = known.record;
  // What a consumer noted may have changed since: its messages in hand may be settled, and the level of its limit is
  // another one.
  const auto& notes = before.notes;
  const bool is_noted = notes.crashes != 0 || !notes.in_hand.empty() || notes.limit_level;
  if (before.phase == term_phase::handing_over && is_noted) co_return nullptr;
  if (before.phase == term_phase::handing_over) before.phase = term_phase::retired, ++known.version, known.mtime = 0;
  if (!before.finished() || before.phase == term_phase::stalled) co_return nullptr;
  if (before.phase == term_phase::died && before.aftermath.count()) co_return nullptr;
  const auto otherwise = before.phase == term_phase::died ? takeover::died : takeover::clean;
  auto begun = co_await begin(what, known, before.epoch == 0 ? takeover::first : otherwise, guard);
  co_return std::get<1>(begun);
}

}  // namespace

awaitable<outcome<term_ptr>> take_over(take_over_request what) {
  const auto& seat = what.seat;
  const auto& session = seat->session();
  condition changed(session->get_scheduler());  // the record, the seat, or whether we have to give up
  const forwarding seat_changes(seat->changed(), changed);
  const forwarding give_up_changes(*what.give_up_told, changed);
  const auto began = session->now();
  const auto& retry = session->options().retry;
  back_off pause(retry.first_pause, retry.max_pause);
  bool waited = false;
  predecessor before_us(began);
  dead_predecessor dead;
  term_guard_ptr guard;
  auto begun = co_await begin_as_known(what, guard);
  if (begun) co_return outcome<term_ptr>(error_code(), std::move(begun));
  for (;;) {
    if (what.give_up()) co_return failed<term_ptr>(asio::error::operation_aborted);
    if (auto why = seat->lost()) co_return failed<term_ptr>(why);
    auto hint = session->arm(watch_kind::data, seat->record_path(), changed);
    auto read = co_await read_record(session, seat->record_path(), seat->bound());
    auto& [failure, known] = read;
    if (may_pass_by(failure)) {
      co_await rest(what, changed, failure, pause);
      continue;
    }
    if (failure == errc::no_node) failure = errc::node_removed;  // the election's node has gone, with all in it
    if (failure) co_return failed<term_ptr>(failure);
    auto& before = known.record;
    if (seat->has_signed(before)) {  // our write was done, and its reply was lost
      seat->note_begun(before, known.mzxid, known.mtime);
      if (seat->keeps_history()) before.began_ms = known.mtime;
      auto begun_before = std::make_shared<term_state>(seat, before, known.version);
      begun_before->set_guard(guard ? std::move(guard) : guard_of(*seat, before));
      co_return outcome<term_ptr>(failure, std::move(begun_before));
    }
    auto how = before.epoch == 0 ? takeover::first : waited ? takeover::confirmed_late : takeover::clean;
    if (!before.finished()) {
      how = takeover::forced;
      const auto refusal = co_await before_us.look(*seat, before, changed);
      if (may_pass_by(refusal)) {
        co_await rest(what, changed, refusal, pause);
        continue;
      }
      if (refusal) co_return failed<term_ptr>(refusal);
      const auto deadline = before_us.deadline(before);
      if (session->now() < deadline) {
        seat->pass_turn();
        const bool is_news = before_us.has_gone() && !std::exchange(waited, true);
        if (is_news) co_await seat->show_waiting();
        const bool has_changed = hint->fired() || before_us.has_changed();
        if (!has_changed) co_await wait_unless_over(what, changed, deadline);
        continue;
      }
    } else if (before.phase == term_phase::stalled) {
      how = takeover::forced;
    } else if (before.phase == term_phase::died) {
      how = takeover::died;
      const auto until = dead.aftermath_end(before, session->now());
      if (session->now() < until) {
        seat->pass_turn();
        if (!std::exchange(waited, true)) co_await seat->show_waiting();
        if (!hint->fired()) co_await wait_unless_over(what, changed, until);
        continue;
      }
    }
    auto next = co_await begin(what, known, how, guard);
    auto& error = std::get<0>(next);
    if (error == errc::no_node) error = errc::node_removed;
    if (error == errc::busy) {
      co_await wait_for_turn(what, changed);
      continue;
    }
    if (error != errc::bad_version && !may_pass_by(error)) co_return next;
    co_await rest(what, changed, error, pause);
  }
}

}  // namespace zkrecipes::detail
