// What becomes of messages whose commit was refused, or whose outcome is not known.
#include <algorithm>
#include <utility>

#include "delivery/delivery_committer.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

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
    co_return co_await see_keys(batch);
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
awaitable<error_code> delivery_committer::see_keys(const delivery_batch& batch) {
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
  if (!frame_.source->get_traits().settles_singly) frame_.source->doubt();
  if (auto error = co_await repeats_.look_again()) co_return error;
  if (frame_.source->is_outdated() || !frame_.source->can_read_again()) co_return error_code();
  // The marks first: if a key is free, what comes behind it sees what was put back.
  auto refusal = co_await see_keys(batch);
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
