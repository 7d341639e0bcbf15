#include "shards/shard_holding.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/strand.hpp>

#include "career/take_over.hpp"
#include "career/term_service.hpp"
#include "career/term_state.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"
#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

using backend::opcode;

std::string member_of(const term_record& record) { return record.leader_node.substr(0, record.leader_node.rfind('#')); }

shard_seat::shard_seat(group_frame_ptr group, own_node_ptr member, std::uint32_t shard, gone_members_ptr gone)
    : group_(std::move(group)),
      member_(std::move(member)),
      shard_(shard),
      record_path_(group_->where.record(shard)),
      name_(member_->name() + "#" + std::to_string(++group_->seats)),
      gone_(std::move(gone)),
      changed_(session()->get_scheduler()),
      member_changes_(member_->changed(), changed_) {}

error_code shard_seat::lost() const { return given_up_ ? make_error_code(errc::closed) : member_->lost(); }

lease_clock::time_point shard_seat::valid_until() const {
  return given_up_ ? lease_clock::time_point{} : member_->hold().valid_until();
}

awaitable<outcome<watch_ptr>> shard_seat::watch_leader(const term_record& of, condition& changed) {
  const auto name = member_of(of);
  const bool is_ours = name == member_->name();  // a term of ours before, whose end could not be written
  if (is_ours || gone_->contains(name)) co_return outcome<watch_ptr>(error_code(), nullptr);
  const auto path = group_->where.member(name);
  if (name.empty() || name.find('/') != name.npos || !path_problem(path).empty()) {  // nobody can have this name
    co_return outcome<watch_ptr>(error_code(), nullptr);
  }
  auto hint = session()->arm(watch_kind::data, path, changed);
  auto look = make_request(opcode::get, path, true);
  const auto deadline = session()->now() + session()->options().timeout;
  auto node = co_await session()->perform(std::move(look), retry::always, bound(), deadline);
  if (node.error == errc::no_node) co_return outcome<watch_ptr>(error_code(), nullptr);
  if (node.error && node.error != errc::no_auth) co_return outcome<watch_ptr>(node.error, nullptr);
  co_return outcome<watch_ptr>(error_code(), std::move(hint));
}

void shard_seat::sign(term_record& record, const term_record& before, std::int64_t before_ms) const {
  record.leader_id = group_->options.id;
  record.leader_node = name_;
  record.leader_token = 0;
  record.deaths = before.deaths;
  record.struck = before.struck;
  const bool was_forced = record.how == takeover::forced || record.how == takeover::died;
  const bool is_our_fault = member_of(before) == member_->name() && group_->health.is_troubled();
  if (was_forced && !is_our_fault) count_owner_failure(record, before.leader_id, before_ms, group_->options.calm);
}

void shard_seat::record_failure(term_record& record) const {
  if (group_->health.is_troubled()) return;
  // By the time of the write that began the term, and by our clock since then.
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(session()->now() - begun_at_);
  const auto now_ms = begun_ms_ == 0 ? 0 : begun_ms_ + since.count();
  count_owner_failure(record, group_->options.id, now_ms, group_->options.calm);
}

error_code shard_seat::objection(const term_record& next) {
  const auto limit = group_->options.quarantine_after;
  if (limit == 0 || next.deaths == 0) return {};
  if (next.deaths >= failures_needed(next, limit)) {
    objected_epoch_ = next.epoch - 1;
    return errc::career_failed;
  }
  const bool is_at_risk = next.deaths >= limit - 1;
  return is_at_risk && !take_turn() ? make_error_code(errc::busy) : error_code();
}

void shard_seat::on_begun(term_record& record, std::int64_t zxid, std::int64_t time) {
  if (record.leader_token == 0) record.leader_token = zxid;
  begun_ms_ = time;
  begun_at_ = session()->now();
}

awaitable<outcome<>> shard_seat::leave() {
  disown();
  co_return outcome<>(error_code());
}

void shard_seat::disown() {
  given_up_ = true;
  changed_.notify();
}

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds shortest_pause = 100ms;
constexpr std::chrono::milliseconds first_pause = 1s;
constexpr std::chrono::milliseconds longest_calm = 4s;
/// In trouble one shard tries for all, and the others pause for so many times as long.
constexpr auto slower_in_trouble = 8;

/// A factory that fails, or properties that can not be, end a term as an exception of the career does.
class failed_career final : public leader_career {
 public:
  explicit failed_career(std::exception_ptr why) : why_(std::move(why)) {}

  career_traits traits() const override { return {.hand_over_deadline = 0ms}; }
  asio::awaitable<void> inaugurate(term) override {
    std::rethrow_exception(why_);
    co_return;
  }
  asio::awaitable<void> execute(term) override { co_return; }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }

 private:
  std::exception_ptr why_;
};

}  // namespace

shard_holding::shard_holding(group_frame_ptr group, own_node_ptr member, std::uint32_t number,
                             const career_factory& make, gone_members_ptr gone, condition& ended)
    : group_(std::move(group)),
      member_(std::move(member)),
      which_{number, group_->options.shards},
      make_(make),
      gone_(std::move(gone)),
      ended_(ended),
      changed_(member_->session()->get_scheduler()),
      pause_(std::clamp<std::chrono::milliseconds>(group_->options.calm / 10, shortest_pause, first_pause),
             std::clamp<std::chrono::milliseconds>(group_->options.calm, shortest_pause, longest_calm)) {
  status_.number = number;
}

void shard_holding::start(asio::any_io_executor executor) {
  executor_ = asio::make_strand(executor);
  launch_detached(member_->session()->strand(), owning(shared_from_this(), &shard_holding::run));
}

shard_status shard_holding::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void shard_holding::enter(coordinator_phase phase) {
  const auto present = member_->session()->now();
  std::lock_guard lock(mutex_);
  status_.phase = phase;
  status_.since = present;
}

void shard_holding::record_failure(std::string what) {
  std::lock_guard lock(mutex_);
  ++status_.failures;
  status_.last_failure = std::move(what);
}

void shard_holding::give_up(bool at_once) {
  if (is_given_up_ && (is_at_once_ || !at_once)) return;
  is_given_up_ = true;
  is_at_once_ = is_at_once_ || at_once;
  if (service_) service_->stop(at_once);
  changed_.notify();
}

awaitable<void> shard_holding::run() {
  const forwarding member_changes(member_->changed(), changed_);
  group_->health.add(which_.number);
  while (goes_on()) {
    make_career();
    const auto error = co_await lead();
    career_.reset();
    if (may_be_named_) co_await retire_surely();
    group_->risk.pass_on(which_.number);
    if (!goes_on()) break;
    if (error) co_await rest();
    while (goes_on() && is_in_quarantine_) co_await wait_for_release();
  }
  group_->risk.pass_on(which_.number);
  group_->health.forget(which_.number);
  enter(coordinator_phase::idle);
  is_over_ = true;
  ended_.notify();
}

void shard_holding::make_career() {
  try {
    career_ = make_(which_);
    if (!career_) throw std::invalid_argument("the factory of a shard group returned no career");
    traits_ = traits_of(*career_);
  } catch (...) {
    career_ = std::make_unique<failed_career>(std::current_exception());
    traits_ = career_->traits();
  }
}

/// A term that the user keeps keeps its seat, too, and may end on any thread.
std::shared_ptr<shard_seat> shard_holding::make_seat() {
  auto on_strand = [strand = member_->session()->strand()](shard_seat* last) {
    asio::post(strand, [seat = std::unique_ptr<shard_seat>(last)] {});
  };
  return std::shared_ptr<shard_seat>(new shard_seat(group_, member_, which_.number, gone_), std::move(on_strand));
}

/// Claims the shard, and serves one term.
awaitable<error_code> shard_holding::lead() {
  enter(coordinator_phase::taking_over);
  end_.reset();
  has_failed_ = false;
  auto seat = seat_ = make_seat();
  take_over_request what{
      seat, traits_.hand_over_deadline, traits_.aftermath, [this] { return !goes_on(); }, &changed_, std::nullopt};
  auto taken = co_await take_over(std::move(what));
  auto error = std::get<0>(taken);
  may_be_named_ = bool(error);
  if (error == errc::foreign_data) co_await mend_record();
  if (error == errc::career_failed) co_await quarantine(seat->objected_epoch());
  if (error && error != errc::career_failed && goes_on()) record_failure(error.message());
  if (error) co_return error;
  co_await serve(std::get<1>(taken));
  if (has_failed_) error = errc::career_failed;
  service_.reset();
  co_return error;
}

awaitable<void> shard_holding::serve(term_ptr term) {
  {
    std::lock_guard lock(mutex_);
    status_.epoch = term->record().epoch;
  }
  auto entered = [this](coordinator_phase phase) { enter(phase); };
  service_ = std::make_shared<term_service>(term, *career_, traits_, executor_, std::move(entered));
  if (is_given_up_) service_->stop(is_at_once_);
  background calming;
  const auto& strand = member_->session()->strand();
  if (!group_->health.has_failed(which_.number)) group_->health.probe().pass_on(which_.number);
  const bool is_known_to_fail = term->record().deaths > 0 || group_->health.is_watched(which_.number);
  if (is_known_to_fail) calming.run(strand, owning(shared_from_this(), &shard_holding::calm_down, term));
  if (term->record().deaths == 0) group_->risk.pass_on(which_.number);
  service_->set_failure_listener([this](const std::string& what) {
    record_failure(what);
    group_->health.record_failure(which_.number, what);
  });
  co_await service_->run();
  calming.stop();
  may_be_named_ = !term->is_finished();
  end_ = service_->end();
  limit_level_ = term->notes().limit_level();
  has_failed_ = service_->failure() || term->has_failed();
  if (!has_failed_) pause_.reset();
}

/// Others that may begin alone only are let in long before the calm is over: there may be many, and most are innocent.
awaitable<void> shard_holding::calm_down(term_ptr term) {
  condition changed(term->session()->get_scheduler());
  const forwarding term_changes(term->changed(), changed);
  auto& health = group_->health;
  auto alone_until = term->session()->now() + group_->options.calm;  // also if it never executes
  auto calm_at = never;
  while (!term->reason() && (term->has_deaths() || health.is_watched(which_.number))) {
    if (term->notes().has_progressed() && health.is_watched(which_.number)) {
      health.on_good_sign(which_.number);
      health.on_progress(which_.number);
      if (!term->has_deaths()) break;
    }
    const auto now = term->session()->now();
    if (calm_at == never && term->is_executing()) {
      alone_until = std::min(alone_until, now + group_->options.calm / 10);
      calm_at = now + group_->options.calm;
    }
    if (now >= alone_until) {
      alone_until = never;
      group_->risk.pass_on(which_.number);
      if (calm_at != never) health.on_good_sign(which_.number);
    }
    if (now >= calm_at) {
      health.on_progress(which_.number);
      if (!term->has_deaths()) break;
      co_await term->forget_deaths();
      calm_at = now + std::max<std::chrono::milliseconds>(group_->options.calm, 1s);
    }
    auto why = co_await changed.wait(std::min(alone_until, calm_at));
    if (why == wake::cancelled) co_return;
  }
  group_->risk.pass_on(which_.number);
}

/// A claim, or a retirement, can be executed although we have not heard of it, and although our server does not show it
/// yet. A record that names a member which is there keeps every heir waiting, so a term that we do not serve is
/// retired.
awaitable<void> shard_holding::retire_surely() {
  is_served_ = true;
  ended_.notify();
  co_await retire();
  is_served_ = may_be_named_ = false;
}

awaitable<void> shard_holding::retire() {
  const auto& session = member_->session();
  const auto path = group_->where.record(which_.number);
  auto pause = session->backoff();
  while (!member_->lost()) {
    std::vector<backend::request> look{backend::make_catch_up(), make_request(backend::opcode::get, path)};
    auto asked = co_await ask(*member_, std::move(look));
    const auto& [error, seen] = asked;
    const bool is_seen = !error && has_caught_up(seen[0].error) && !is_untold(seen[1].error);
    auto record = is_seen && !seen[1].error ? parse_record(seen[1].data) : std::nullopt;
    const bool is_ours = record && !record->finished() && member_of(*record) == member_->name();
    if (is_seen && !is_ours) co_return;
    if (is_ours) {
      show_end(*record);
      auto write = make_request(backend::opcode::set, path);
      write.data = serialize(*record);
      write.version = seen[1].stat.version;
      const auto deadline = session->now() + session->options().timeout;
      auto written = co_await session->perform(std::move(write), retry::once, member_->bound(), deadline);
      if (!written.error || written.error == errc::no_auth) co_return;
    }
    const auto until = pause.next(*session->get_scheduler());
    while (!member_->lost() && session->now() < until) co_await changed_.wait(until);
  }
}

/// A hold-off can have been asked for after the term's last write, so the level is told anew.
void shard_holding::show_end(term_record& ours) const {
  ours.phase = end_of(ours);
  if (end_ == term_phase::retired) {
    auto notes = read_notes(ours.notes);
    notes.limit_level = limit_level_;
    ours.notes = to_json(notes);
  }
  if (has_failed_) {
    seat_->record_failure(ours);
  } else if (end_ == term_phase::retired) {
    ours.deaths = 0;
  }
}

/// A forced claim that was not followed by a term leaves the next one to be forced, too.
term_phase shard_holding::end_of(const term_record& ours) const {
  if (end_) return *end_;
  const bool was_forced = ours.how == takeover::forced || ours.how == takeover::died;
  return was_forced ? term_phase::stalled : term_phase::retired;
}

/// No term can begin behind other data, so a record that holds some is emptied. Its node stays, because the versions of
/// a new node would begin again, below one that a sleeping owner knows.
awaitable<void> shard_holding::mend_record() {
  const auto& session = member_->session();
  const auto path = group_->where.record(which_.number);
  const auto deadline = session->now() + session->options().timeout;
  auto seen =
      co_await session->perform(make_request(backend::opcode::get, path), retry::always, member_->bound(), deadline);
  if (seen.error || parse_record(seen.data)) co_return;
  transaction all;
  all.set(path, "", seen.stat.version).check(member_->path());
  auto multi = backend::make_multi(all);
  co_await session->perform(std::move(multi), retry::once, member_->bound(), deadline);
}

/// So many owners have died of it that another one is not risked. The planner takes the shard from us then.
awaitable<void> shard_holding::quarantine(std::int64_t ended_epoch) {
  auto error = co_await put_in_quarantine(group_, member_, which_.number, ended_epoch);
  record_failure(error ? "the shard could not be put in quarantine: " + error.message()
                       : "the shard was put in quarantine");
  // Whether it is there is seen when we wait for its release.
  is_in_quarantine_ = !error || error == errc::node_exists || may_have_happened(error);
}

/// Until the planner has taken the shard from us, we must not begin another term; or somebody releases it before.
awaitable<void> shard_holding::wait_for_release() {
  const auto& session = member_->session();
  auto look = make_request(backend::opcode::exists, group_->where.quarantine(which_.number));
  const auto deadline = session->now() + session->options().timeout;
  auto seen = co_await session->perform(std::move(look), retry::always, member_->bound(), deadline);
  is_in_quarantine_ = seen.error != errc::no_node;
  if (is_in_quarantine_) co_await rest();
}

/// Pauses after an error that may pass by: a term of the same kind would fail again at once. The news that another
/// shard executes again ends the pause. A shard that has tried for all and failed may be bad itself, so it is the turn
/// of another, which tries soon. One in quarantine tries nothing, so it has no turn.
awaitable<void> shard_holding::rest() {
  const auto& session = member_->session();
  auto& health = group_->health;
  const forwarding signs(health.changed(), changed_);
  const forwarding probes(health.probe().changed(), changed_);
  const auto began = session->now();
  const auto soon = pause_.next(*session->get_scheduler());
  const auto between_tries =
      std::clamp<std::chrono::milliseconds>(group_->options.calm / 10, shortest_pause, first_pause);
  const auto known = health.good_signs();
  auto due = began + slower_in_trouble * (soon - began);
  bool has_passed = health.probe().pass_on(which_.number);
  bool has_waited = false;
  while (goes_on() && health.good_signs() == known) {
    const auto now = session->now();
    if (now >= soon) has_passed = false;
    if (!health.is_troubled())
      due = soon;
    else if (!is_in_quarantine_ && !has_passed && health.probe().take(which_.number))
      due = std::min(due, has_waited ? std::max(soon, now + between_tries) : soon);
    else
      has_waited = !has_passed;
    if (now >= due) break;
    co_await changed_.wait(has_passed ? soon : due);
  }
}

}  // namespace zkrecipes::detail
