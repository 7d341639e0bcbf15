#include "career/take_over.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

std::optional<known_record> to_known(const backend::reply& node) {
  auto record = parse_record(node.data);
  if (!record) return std::nullopt;
  return known_record{std::move(*record), node.stat.version, node.stat.mzxid, node.stat.mtime};
}

awaitable<outcome<known_record>> read_record(core_ptr session, std::string path, incarnation_ptr bound) {
  // After that long without a connection the seat is lost, and a request to stop should be noticed.
  const auto deadline = session->now() + session->options().timeout;
  auto look = make_request(backend::opcode::get, std::move(path), true);
  auto result = co_await session->perform(std::move(look), retry::always, std::move(bound), deadline);
  if (result.error) co_return failed<known_record>(result.error);
  auto known = to_known(result);
  if (!known) co_return failed<known_record>(errc::foreign_data);
  co_return outcome<known_record>(error_code(), std::move(*known));
}

using backend::opcode;

namespace {

/// Whether another try can tell: the record has changed, the connection broke, or a server refused (because it
/// throttles, for example).
bool may_pass_by(const error_code& error) {
  return error == errc::bad_version || error == errc::connection_loss || error == errc::server_error;
}

/// The leader of a term that is not finished: is it still there, and since when is it known to have gone?
class absent_leader {
 public:
  /// `since`: when it has gone, if that was before the take-over.
  explicit absent_leader(lease_clock::time_point since) : since_(since) {}

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
class dead_leader {
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

/// One candidate on its way into office.
class successor {
 public:
  /// A term, or why there will be none. Nothing: look again.
  using step = std::optional<outcome<term_ptr>>;

  explicit successor(take_over_request what);

  /// Why to stop trying; no error: go on.
  error_code objection() const;
  awaitable<step> begin_as_last_seen();
  awaitable<step> try_once();

 private:
  /// How the term before has ended, and from when on the next may begin.
  struct ending {
    takeover how = takeover::forced;
    lease_clock::time_point free_from{};
    bool has_leader = false;  ///< It is still there.
  };

  awaitable<outcome<ending>> check_end(const term_record& before);
  awaitable<void> wait(const ending& of, const watch& hint);
  awaitable<outcome<term_ptr>> begin(const known_record& before, takeover how);
  term_ptr take_up(known_record own);
  awaitable<step> answer(error_code why);
  awaitable<void> wait_for_turn();
  awaitable<void> wait_unless_over(lease_clock::time_point until);
  term_seat& seat() const noexcept { return *what_.seat; }
  const core_ptr& session() const noexcept { return what_.seat->session(); }

  take_over_request what_;
  condition changed_;  // the record, the seat, or whether we have to give up
  forwarding seat_changes_;
  forwarding give_up_changes_;
  back_off pause_;
  bool has_waited_ = false;
  absent_leader absent_;
  dead_leader dead_;
  term_guard_ptr guard_;  // made at the first try, and kept if a reply was lost, because the record may name us then
};

successor::successor(take_over_request what)
    : what_(std::move(what)),
      changed_(session()->get_scheduler()),
      seat_changes_(seat().changed(), changed_),
      give_up_changes_(*what_.give_up_told, changed_),
      pause_(session()->options().retry.first_pause, session()->options().retry.max_pause),
      absent_(session()->now()) {}

error_code successor::objection() const {
  return what_.give_up() ? make_error_code(asio::error::operation_aborted) : seat().lost();
}

/// Begins a term by one write, without a look, if the known record is still right; the version check tells. A leader
/// that was last seen handing over, and has left the line, has retired with its next write, because every other end of
/// a term takes two writes.
awaitable<successor::step> successor::begin_as_last_seen() {
  if (!what_.known) co_return std::nullopt;
  auto known = *what_.known;
  auto& before = known.record;
  if (before.phase == term_phase::handing_over) {
    if (may_change_unread(before.notes)) co_return std::nullopt;
    before.phase = term_phase::retired;
    ++known.version;
    known.mtime = 0;
  }
  if (!before.finished() || before.phase == term_phase::stalled) co_return std::nullopt;
  if (before.phase == term_phase::died && before.aftermath.count()) co_return std::nullopt;
  auto how = before.phase == term_phase::died ? takeover::died : takeover::clean;
  if (before.epoch == 0) how = takeover::first;
  auto begun = co_await begin(known, how);
  if (std::get<0>(begun)) co_return std::nullopt;
  co_return begun;
}

/// The protocol (docs/hand-over.md), from a look at the record on: the term before has ended, or is waited for; then
/// the next one is written.
awaitable<successor::step> successor::try_once() {
  const auto hint = session()->arm(watch_kind::data, seat().record_path(), changed_);
  auto read = co_await read_record(session(), seat().record_path(), seat().bound());
  auto& [failure, before] = read;
  if (failure) co_return co_await answer(failure);
  if (seat().has_signed(before.record)) {  // our write was done, and its reply was lost
    co_return outcome<term_ptr>(error_code(), take_up(std::move(before)));
  }
  auto seen = co_await check_end(before.record);
  const auto& [refusal, end] = seen;
  if (refusal) co_return co_await answer(refusal);
  if (session()->now() < end.free_from) {
    co_await wait(end, *hint);
    co_return std::nullopt;
  }
  auto begun = co_await begin(before, end.how);
  if (std::get<0>(begun)) co_return co_await answer(std::get<0>(begun));
  co_return begun;
}

awaitable<outcome<successor::ending>> successor::check_end(const term_record& before) {
  ending end;
  if (!before.finished()) {
    const auto refusal = co_await absent_.look(seat(), before, changed_);
    if (refusal) co_return failed<ending>(refusal);
    end.free_from = absent_.deadline(before);
    end.has_leader = !absent_.has_gone();
  } else if (before.phase == term_phase::died) {
    end.how = takeover::died;
    end.free_from = dead_.aftermath_end(before, session()->now());
  } else if (before.phase != term_phase::stalled) {
    end.how = has_waited_ ? takeover::confirmed_late : takeover::clean;
    if (before.epoch == 0) end.how = takeover::first;
  }
  co_return outcome<ending>(error_code(), end);
}

/// Until the next term may begin, or there is something new to see.
awaitable<void> successor::wait(const ending& of, const watch& hint) {
  seat().pass_turn();
  const bool is_news = !of.has_leader && !std::exchange(has_waited_, true);
  if (is_news) co_await seat().show_waiting();
  const bool has_changed = hint.fired() || (of.has_leader && absent_.has_changed());
  if (!has_changed) co_await wait_unless_over(of.free_from);
}

/// Errors: `busy` (it is not the turn of our seat), `bad_version` (the record has changed), `no_node` (our seat has
/// gone, or the record), `foreign_data` (no term can follow: nobody could read its record).
awaitable<outcome<term_ptr>> successor::begin(const known_record& before, takeover how) {
  if (before.record.epoch == last_epoch) co_return failed<term_ptr>(errc::foreign_data);
  auto next = next_record(what_, before, how);
  if (auto why = seat().objection(next)) co_return failed<term_ptr>(why);
  if (!guard_) guard_ = guard_of(seat(), next);
  auto written = co_await write_record(what_, next, before.version);
  if (written.error) co_return failed<term_ptr>(written.error);
  const auto& stat = written.results[how == takeover::forced ? 1 : 0].stat;
  known_record own{std::move(next), stat.version, stat.mzxid, stat.mtime};
  co_return outcome<term_ptr>(error_code(), take_up(std::move(own)));
}

/// The term of this record, which names us.
term_ptr successor::take_up(known_record own) {
  auto& record = own.record;
  seat().on_begun(record, own.mzxid, own.mtime);
  if (seat().keeps_history()) record.began_ms = own.mtime;
  if (!guard_) guard_ = guard_of(seat(), record);
  auto begun = std::make_shared<term_state>(what_.seat, std::move(record), own.version);
  begun->set_guard(std::move(guard_));
  return begun;
}

/// What may pass by is tried again: at once, at our turn, or after a pause if a server has refused.
awaitable<successor::step> successor::answer(error_code why) {
  if (why == errc::no_node) why = errc::node_removed;  // the election's node has gone, with all in it
  if (why == errc::busy) {
    co_await wait_for_turn();
  } else if (why == errc::server_error) {
    seat().pass_turn();
    co_await wait_unless_over(pause_.next(*session()->get_scheduler()));
  } else if (!may_pass_by(why)) {
    co_return failed<term_ptr>(why);
  }
  co_return std::nullopt;
}

/// The first that is resumed takes the turn, so that the others do not read their records in vain.
awaitable<void> successor::wait_for_turn() {
  const forwarding turns(seat().turn_changed(), changed_);
  while (!objection() && !seat().take_turn()) co_await changed_.wait();
}

/// Returns at once if we have to give up or the seat is lost, because the notification of that may have come before we
/// wait.
awaitable<void> successor::wait_unless_over(lease_clock::time_point until) {
  if (!objection()) co_await changed_.wait(until);
}

}  // namespace

awaitable<outcome<term_ptr>> take_over(take_over_request what) {
  successor next(std::move(what));
  auto begun = co_await next.begin_as_last_seen();
  while (!begun) {
    if (auto why = next.objection()) co_return failed<term_ptr>(why);
    begun = co_await next.try_once();
  }
  co_return std::move(*begun);
}

}  // namespace zkrecipes::detail
