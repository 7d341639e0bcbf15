#include "delivery/delivery_committer.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "delivery/circuit_breaker.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto figures_pause = 1s;
constexpr auto still_after = 45s;  // so an operator's look sees it within a minute
constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_name = 256;  // a source of the user's may have longer ones

/// As it stands in the record, which is written often.
std::string shown_reason(const std::string& reason) {
  return reason.empty() ? "no reason given" : reason.substr(0, longest_reason);
}

}  // namespace

lease_clock::time_point delivery_figures::next_time() const {
  if (present() != shown_.what) return shown_.at + figures_pause;
  const auto held = limit_.held_since();
  const auto due = held == never || is_still(held) ? never : held + still_after;
  const auto since = term_->work().busy_since();
  if (since == never) return due;
  if (!shown_.what.is_still) return std::min(due, since + still_after);
  // A call that was given up may be older than all whose messages are waited for.
  const auto first = window_.stages().working_since();
  return first == never || !shown_.what.still_message.empty() ? due : std::min(due, first + still_after);
}

delivery_figures::reading delivery_figures::read() const {
  const auto now = term_->session()->now();
  auto all = shown_;
  all.at = now;
  if (now < next_time()) return all;
  all.what = present();
  if (all.what != shown_.what) all.text = to_json(all.what);
  return all;
}

/// Only what changes with the work: else the record would be written again and again.
delivery_figures::figures delivery_figures::present() const {
  const auto status = frame_.board.read();
  figures all{status.received, status.done,    status.again,     status.parked, status.declined,
              status.waited,   status.commits, status.held_back, status.resting};
  if (breaker_.is_open()) {
    all.held_off = shown_reason(breaker_.reason());
  } else if (is_held_off() && !window_.all().empty()) {
    all.held_off = shown_reason(limit_.held_reason());
  }
  all.is_still = is_still(term_->work().busy_since());
  if (const auto* which = hanging()) {
    all.still_message = which->what->name.substr(0, longest_name);
    all.still_since = which->begun;
  }
  if (!window_.all().empty()) all.oldest = window_.all().begin()->second.what->stat.ctime;
  return all;
}

/// One long call behind a short pause is work.
bool delivery_figures::is_held_off() const {
  if (!is_still(limit_.held_since())) return false;
  const bool is_pausing = term_->session()->now() < limit_.held_off_until();
  return is_pausing || limit_.last_held() >= limit_.held_since() + still_after;
}

bool delivery_figures::is_still(lease_clock::time_point since) const {
  return since != never && term_->session()->now() >= since + still_after;
}

const message_in_hand* delivery_figures::hanging() const {
  if (!is_still(term_->work().busy_since())) return nullptr;
  const auto& working = window_.stages().working();
  if (working.empty() || !is_still(working.begin()->first)) return nullptr;
  return &window_.all().at(working.begin()->second);
}

json_object delivery_figures::to_json(const figures& what) const {
  auto count = [](auto number) { return static_cast<std::int64_t>(number); };
  json_object all;
  if (what == figures()) return all;
  all.set("received", count(what.received)).set("done", count(what.done)).set("again", count(what.again));
  all.set("parked", count(what.parked)).set("commits", count(what.commits));
  if (what.declined) all.set("declined", count(what.declined));
  if (what.waited) all.set("waited", count(what.waited));
  all.set("held_back", count(what.held_back)).set("resting", count(what.resting));
  if (!what.held_off.empty()) all.set("held_off", what.held_off);
  if (what.is_still) all.set_flag("still", true);
  if (!what.still_message.empty()) {
    const auto age = std::chrono::ceil<std::chrono::milliseconds>(term_->session()->now() - what.still_since);
    all.set("still_message", what.still_message).set("still_since_ms", wall_time(*term_->session()) - age.count());
  }
  return all.set("oldest_ms", what.oldest);
}

std::int64_t wall_time(const core& session) {
  const auto since = session.get_scheduler()->world->wall_clock().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

namespace {

std::size_t bytes_of(const operation& one) {
  constexpr std::size_t fixed_part = 64;
  return fixed_part + one.path.size() + one.data.size();
}

bool is_plain_set(const operation& one) { return one.type == operation::kind::set && one.version == any_version; }

}  // namespace

void delivery_batch::add(member one, transaction settling, transaction effects) {
  bytes_ += more_bytes(settling, effects);
  one.first = count_;
  for (auto& each : std::move(settling).operations()) append(std::move(each), false);
  for (auto& each : std::move(effects).operations()) append(std::move(each), true);
  members_.push_back(std::move(one));
}

void delivery_batch::append(operation one, bool is_effect) {
  if (merges_) {
    auto& touched = touches_[one.path];
    touched.is_plain = touched.is_plain && is_effect && is_plain_set(one);
    touched.last = count_;
  }
  ++count_;
  operations_.push_back(std::move(one));
}

std::size_t delivery_batch::more_bytes(const transaction& settling, const transaction& effects) const {
  std::size_t bytes = 0;
  for (const auto& each : settling.operations()) bytes += bytes_of(each);
  for (const auto& each : effects.operations()) {
    const auto found = is_plain_set(each) ? touches_.find(each.path) : touches_.end();
    const bool is_merged = found != touches_.end() && found->second.is_plain;
    bytes += is_merged ? 0 : bytes_of(each);
  }
  return bytes;
}

bool delivery_batch::is_dropped(std::size_t place) const {
  const auto found = touches_.find(operations_[place].path);
  return found != touches_.end() && found->second.is_plain && found->second.last != place;
}

transaction delivery_batch::seal(transaction more) {
  transaction all;
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_dropped(i)) {
      is_merged_ = true;
      continue;
    }
    places_.push_back(i);
    all.add(std::move(operations_[i]));
  }
  operations_.clear();
  for (std::size_t i = 0; i < more.operations().size(); ++i) places_.push_back(count_ + i);
  return all.append(std::move(more));
}

const delivery_batch::member* delivery_batch::owner_of(std::size_t place) const {
  const member* found = nullptr;
  if (place >= count_) return found;
  for (const auto& each : members_) {
    if (each.first <= place) found = &each;
  }
  return found;
}

namespace {

constexpr std::size_t max_bytes = 256 * 1024;

}  // namespace

delivery_committer::delivery_committer(term_ptr term, delivery_frame& frame, delivery_window& window,
                                       circuit_breaker& breaker, probation& watch, parked_keys& parked,
                                       delivery_repeats& repeats, delivery_log& log, const call_limit& limit)
    : term_(std::move(term)),
      frame_(frame),
      window_(window),
      breaker_(breaker),
      probation_(watch),
      parked_(parked),
      log_(log),
      repeats_(repeats),
      figures_(term_, frame_, window_, breaker_, limit),
      most_at_once_(frame_.source->get_traits().most_at_once) {}

bool delivery_committer::has_work() {
  const bool may_write_notes = !term_->reason();
  const bool has_notes = probation_.wants_write() || term_->session()->now() >= figures_.next_time();
  return window_.stages().has_finished() || frame_.source->wants_write() || (may_write_notes && has_notes);
}

awaitable<error_code> delivery_committer::commit() {
  delivery_batch batch(is_merging_);
  auto error = co_await compose(batch);
  if (error) co_return error;
  std::vector<settlement> settlements;
  settlements.reserve(batch.members().size());
  for (const auto& each : batch.members()) settlements.push_back(each.how);
  auto operations = batch.seal(for_all(settlements));
  auto notes = notes_of(batch);
  auto figures = figures_.read();
  notes.figures = figures.text;
  const bool shows_notes = !probation_.is_written(notes) || !figures_.is_shown(figures) || batch.empty();
  for (const auto& each : batch.members()) window_.set_committing(*each.whose, true);
  std::optional<json_object> shown;
  if (shows_notes) shown = to_json(notes);
  auto result = co_await term_->settle(std::move(operations), std::move(shown));
  if (result.error) {
    for (const auto& each : batch.members()) window_.set_committing(*each.whose, false);
    co_return co_await answer_refusal(batch, result);
  }
  if (shows_notes) {
    probation_.written(notes);
    figures_.on_shown(std::move(figures));
  }
  const auto was_tried = [](const member& each) { return !each.whose->is_declined && !each.whose->is_repeat; };
  if (std::ranges::any_of(batch.members(), was_tried)) term_->notes().record_progress();
  most_at_once_ = frame_.source->get_traits().most_at_once;
  is_merging_ = true;
  frame_.board.change([&](queue_consumer_status& status) {
    if (batch.empty()) return;
    ++status.commits;
    status.last_commit = batch.members().size();
  });
  const auto forgotten = repeats_.committed();
  frame_.board.change([&](queue_consumer_status& status) { status.forgotten += forgotten; });
  if (!batch.empty() || from_source_ > 0) co_await frame_.source->settled(std::move(settlements));
  for (const auto& each : batch.members()) conclude(each);
  co_return error_code();
}

/// The operations that belong to no single message: those of the source, then the one that moves the marks.
transaction delivery_committer::for_all(const std::vector<settlement>& settlements) {
  auto all = frame_.source->moving_on(settlements);
  from_source_ = all.operations().size();
  return all.append(repeats_.moving());
}

awaitable<error_code> delivery_committer::compose(delivery_batch& batch) {
  if (auto error = co_await repeats_.begin_commit()) co_return error;
  for (auto* each : window_.finished()) {
    if (batch.members().size() == most_at_once_) break;
    if (!repeats_.confirm(*each)) {
      judge_again(*each);
      break;
    }
    auto one = judge(*each);
    if (!spent_reason_.empty() && batch.empty()) co_return errc::career_failed;
    if (!std::exchange(spent_reason_, {}).empty()) break;  // what is in front of it is settled first
    if (one.how.how == settlement::kind::park && !std::exchange(is_letter_ready_, true)) {
      auto error = co_await frame_.source->prepare(one.how.how, parked_.parks() || one.how.parks_key);
      if (error) is_letter_ready_ = false;
      const bool is_refused = error == errc::no_auth || is_server_refusal(error);  // such as for a quota
      if (is_refused) refuse(one, error);
      if (is_refused || (error && !batch.empty())) break;  // what is in front of it is settled all the same
      if (error) co_return error;
    }
    auto settling = frame_.source->settling(one.how);
    const auto how = one.how.how;
    const bool has_effects = how == settlement::kind::remove && !each->is_repeat;
    auto effects = has_effects ? each->outcome.effects() : transaction();
    if (!batch.empty() && batch.bytes() + batch.more_bytes(settling, effects) > max_bytes) break;
    batch.add(std::move(one), std::move(settling), std::move(effects));
    repeats_.record(*each, how);
  }
  co_return error_code();
}

/// Decides how a finished message is settled.
delivery_committer::member delivery_committer::judge(message_in_hand& whose) {
  member one;
  one.whose = &whose;
  auto& how = one.how;
  how.what = whose.what.get();
  if (whose.letter.has_reason) how.reason = whose.outcome.reason();
  const auto what = whose.outcome.what();
  if (what == message_outcome::kind::done) return one;
  how.epoch = term_->record().epoch;
  how.is_behind = parked_.has(whose.lane) && !whose.parks_alone;
  how.last_failed = how.is_behind ? 0 : wall_time(*term_->session());
  how.first_failed = how.is_behind ? 0 : first_failure_of(whose);
  const bool is_spent = whose.what->attempts >= options().retry.attempts;
  if (what == message_outcome::kind::again && !is_spent) {
    how.how = settlement::kind::count_attempt;
  } else if (what == message_outcome::kind::again && options().spent == spent_message::stop_the_run) {
    spent_reason_ = how.reason.empty() ? "no reason given" : how.reason;
    probation_.settled(how.what->name);  // the next term tries it again
  } else {
    how.how = settlement::kind::park;
    how.most_data = whose.letter.most_data;
    how.parks_key = (parked_.parks() && !whose.parks_alone) || how.is_behind;
    if (how.parks_key) how.key = whose.lane;
  }
  return one;
}

/// The last write of a message that comes with attempts has counted one.
std::int64_t delivery_committer::first_failure_of(const message_in_hand& whose) const {
  if (whose.first_failed) return whose.first_failed;
  return whose.what->attempts > 1 ? whose.what->stat.mtime : wall_time(*term_->session());
}

consumer_notes delivery_committer::notes_of(const delivery_batch& batch) const {
  std::vector<std::string_view> settled;
  for (const auto& each : batch.members()) settled.push_back(each.how.what->name);
  return probation_.notes_with(settled);
}

/// The settlement of a message is done.
void delivery_committer::conclude(const member& each) {
  auto& whose = *each.whose;
  const auto how = each.how.how;
  if (whose.is_declined) {
    probation_.forget(whose.what->name);
    frame_.board.change([](queue_consumer_status& status) { ++status.declined; });
    return window_.remove(whose);
  }
  if (whose.is_repeat) probation_.forget(whose.what->name);
  if (!whose.is_repeat) probation_.settled(whose.what->name);
  if (how == settlement::kind::count_attempt) return count_failure(whose);
  // At most once: it was removed just now, and is processed next.
  const bool is_parked = how == settlement::kind::park;
  if (is_parked) log_.parked(*whose.what, whose.outcome.reason());
  if (is_parked && each.how.parks_key) parked_.add(whose.lane);
  if (!is_parked && options().delivery == delivery_guarantee::at_most_once) {
    whose.is_removed = true;
    return window_.restart(whose);
  }
  if (!is_parked && !whose.is_repeat) breaker_.on_success(term_->session()->now());
  frame_.board.change([&](queue_consumer_status& status) {
    ++(is_parked ? status.parked : whose.is_repeat ? status.repeated : status.done);
  });
  window_.remove(whose);
}

void delivery_committer::count_failure(message_in_hand& whose) {
  const auto now = term_->session()->now();
  const auto first_failed = first_failure_of(whose);
  const auto failed = whose.what->attempts;
  const auto random = term_->session()->get_scheduler()->world->random();
  const auto pause = whose.outcome.after().value_or(pause_after(options().retry, failed, random));
  const auto cost = whose.cost;
  auto next = *whose.what;
  ++next.attempts;
  ++next.stat.version;
  const bool is_asked_for = whose.outcome.after().has_value();
  window_.load(whose, std::move(next));
  whose.cost = cost;  // this write has not changed the data
  whose.first_failed = first_failed;
  breaker_.rest(whose, bounded(pause), is_asked_for, now);
}

// Handling of a commit that was refused, or whose outcome is not known.

awaitable<error_code> delivery_committer::answer_refusal(const delivery_batch& batch,
                                                         term_state::commit_result refusal) {
  if (refusal.error == errc::outcome_unknown) co_return co_await look_again(batch);
  const auto place = refusal.refused ? std::optional(batch.place_of(*refusal.refused)) : std::nullopt;
  if (place && *place >= batch.end_of_members()) {
    co_return co_await answer_common(*place - batch.end_of_members(), refusal.error);
  }
  if (batch.is_merged()) {  // composed again with all operations, to tell whose is refused
    is_merging_ = false;
    co_return error_code();
  }
  const auto* culprit = place ? batch.owner_of(*place) : nullptr;
  const bool concerns_operations = refusal.error == errc::bad_arguments || refusal.error == errc::too_large;
  if (!culprit && !concerns_operations) co_return refusal.error;
  if (!culprit && batch.members().size() > 1) {  // halved until the culprit stands alone
    most_at_once_ = batch.members().size() / 2;
    co_return error_code();
  }
  if (!culprit && batch.empty()) co_return refusal.error;
  if (!culprit) culprit = &batch.members().front();
  co_return co_await answer_culprit(batch, *culprit, refusal.error, place);
}

/// An operation of the source that is for all messages was refused.
awaitable<error_code> delivery_committer::answer_common(std::size_t operation, error_code why) {
  if (is_server_refusal(why)) co_return why;
  if (operation < from_source_) co_return frame_.source->adapt(operation, why) ? error_code() : why;
  co_return co_await repeats_.answer_refusal(why);
}

awaitable<error_code> delivery_committer::answer_culprit(const delivery_batch& batch, const member& culprit,
                                                         error_code why, std::optional<std::size_t> place) {
  const bool is_parking = culprit.how.how == settlement::kind::park;
  const bool is_first = place == culprit.first && frame_.source->get_traits().settles_singly;
  if (is_first && is_write_conflict(why)) {
    // Somebody has removed or changed the message. None of its effects happened.
    delivery_batch alone(false);
    alone.add(culprit, {}, {});
    co_return co_await look_again(alone);
  }
  if (culprit.whose->is_declined) co_return co_await give_up_declining(culprit);
  const bool is_mark = place == culprit.first + message_source::place_of_mark;
  if (is_mark && culprit.how.parks_key && is_write_conflict(why)) {
    if (why == errc::no_node) is_letter_ready_ = false;  // or the folder of the marks was removed
    co_return co_await check_keys(batch);
  }
  if (is_parking && why == errc::no_node) {
    is_letter_ready_ = false;  // somebody has removed the folder
  } else if (!(is_parking && why == errc::too_large && shrink_letter(culprit))) {
    refuse(culprit, why);
  }
  co_return error_code();
}

/// The next commit takes a smaller letter of it. False: there is none.
bool delivery_committer::shrink_letter(const member& culprit) {
  const auto longest = term_->session()->options().jute_maxbuffer;
  const bool may_cut = frame_.source->get_traits().cuts_letters;
  return culprit.whose->letter.shrink(!culprit.how.reason.empty(), may_cut, longest);
}

void delivery_committer::refuse(const member& culprit, const error_code& why) {
  auto& whose = *culprit.whose;
  frame_.board.change([](queue_consumer_status& status) { ++status.refused; });
  const auto pause = std::max(options().retry.longest, max_pause());
  if (whose.is_repeat) {
    // It has no effects, so an attempt would say nothing about it.
    window_.rest(whose, term_->session()->now() + pause);
  } else if (culprit.how.how != settlement::kind::remove) {
    // It can not be counted, or not be parked. It stays where it is, and is tried again later; the attempt counts at
    // least here, so that a message that can not be counted is parked in the end.
    auto next = *whose.what;
    next.attempts = std::min(next.attempts + 1, options().retry.attempts);
    window_.load(whose, std::move(next));
    probation_.settled(whose.what->name);  // the attempt that a suspect is charged with is this one
    window_.rest(whose, term_->session()->now() + pause);
  } else {
    const auto failed = message_outcome::again("its effects were refused: " + why.message());
    log_.attempt_failed(*whose.what, failed.reason());
    for (const auto* each : window_.refuse(whose, failed)) probation_.put_back(each->what->name);
    frame_.board.change([](queue_consumer_status& status) { ++status.again; });
    const bool is_spared = breaker_.spares(whose, failed, why == errc::no_auth, term_->session()->now());
    if (is_spared) probation_.put_back(whose.what->name);
  }
}

/// A declined message can not be acknowledged, so it is processed like any other.
awaitable<error_code> delivery_committer::give_up_declining(const member& culprit) {
  frame_.board.change([](queue_consumer_status& status) { ++status.refused; });
  if (!frame_.source->can_read_again()) {
    take_back(*culprit.whose, *culprit.whose->what, false);
    co_return error_code();
  }
  delivery_batch alone(false);
  alone.add(culprit, {}, {});
  co_return co_await read_again(alone, false);
}

/// The mark of a key is not what we took it for. Looks at all marks that the batch relies on, because many keys may be
/// held at once. Messages of a held key wait until its letters are all back.
awaitable<error_code> delivery_committer::check_keys(const delivery_batch& batch) {
  std::vector<const member*> parking;
  std::vector<std::string> keys;
  for (const auto& each : batch.members()) {
    if (!each.how.parks_key) continue;
    parking.push_back(&each);
    keys.push_back(each.how.key);
  }
  if (keys.empty()) co_return error_code();
  auto seen = co_await parked_.look(*frame_.source, std::move(keys));
  const auto& [error, states] = seen;
  if (error) co_return error;
  for (std::size_t i = 0; i < parking.size(); ++i) {
    auto& whose = *parking[i]->whose;
    if (states[i] == key_state::held) window_.rest(whose, term_->session()->now() + max_pause());
    if (states[i] == key_state::free && parking[i]->how.is_behind) window_.restart(whose);
  }
  co_return error_code();
}

/// Reads messages again whose settlement may have been done, or that somebody else has changed. One that is there was
/// not settled, because its settlement and its effects are one; it is processed again. A log reads its position again.
awaitable<error_code> delivery_committer::look_again(const delivery_batch& batch) {
  if (!frame_.source->get_traits().settles_singly) frame_.source->on_unknown_outcome();
  if (auto error = co_await repeats_.look_again()) co_return error;
  if (frame_.source->is_outdated() || !frame_.source->can_read_again()) co_return error_code();
  // The marks first: if a key is free, what comes behind it sees what was put back.
  auto refusal = co_await check_keys(batch);
  if (refusal) co_return refusal;
  co_return co_await read_again(batch, true);
}

awaitable<error_code> delivery_committer::read_again(const delivery_batch& batch, bool may_decline) {
  std::vector<std::string> names;
  for (const auto& each : batch.members()) names.push_back(each.whose->what->name);
  auto read = co_await frame_.source->read_again(std::move(names));
  auto& [error, found] = read;
  if (error) co_return error;
  for (std::size_t i = batch.members().size(); i-- > 0;) {  // what is behind is undone first
    auto& whose = *batch.members()[i].whose;
    if (found[i]) {
      take_back(whose, std::move(*found[i]), may_decline);
    } else {
      frame_.board.change([](queue_consumer_status& status) { ++status.passed_over; });
      probation_.settled(whose.what->name);
      window_.remove(whose);
    }
  }
  co_return error_code();
}

/// A message that is not settled, as it was found, is processed again. One that was declined goes on as if it came now.
void delivery_committer::take_back(message_in_hand& whose, message found, bool may_decline) {
  if (whose.is_declined) {
    const auto lane = whose.lane;
    window_.remove(whose);
    return window_.add(std::move(found), lane, term_->session()->now(), may_decline);
  }
  window_.load(whose, std::move(found));
  window_.refuse(whose, {});
  window_.restart(whose);
}

/// It was taken for a repeat of a message in front of it that has gone without effects.
void delivery_committer::judge_again(message_in_hand& whose) {
  for (const auto* each : window_.refuse(whose, {})) probation_.put_back(each->what->name);
  window_.restart(whose);
}

}  // namespace zkrecipes::detail
