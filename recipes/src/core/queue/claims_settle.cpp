// Settles an item: removes it and its claim together with the effects, and finds out after a lost reply whether that
// was done.
#include <algorithm>
#include <utility>

#include "queue/claims.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

/// A claim that has gone proves nothing, because an operator may have removed it and another client may have taken the
/// item. So if it matters which settlement was done, each one writes its mark into the claim node, which is removed
/// afterwards.
transaction claims::removal_of(const std::string& name, const std::string& mark) const {
  transaction all;
  const auto claim = frame_->where.claim(name);
  mark.empty() ? all.remove(claim) : all.set(claim, mark);
  return all.remove(frame_->where.item(name));
}

/// Settlements with the same effects share one mark, because it does not matter which of them is done.
std::string claims::mark_of(const held& item, const transaction& effects) const {
  const auto same = std::ranges::find_if(item.open, [&](const settlement& each) {
    return !each.mark.empty() && each.effects.operations() == effects.operations();
  });
  return same == item.open.end() ? frame_->session->make_guid() : same->mark;
}

awaitable<error_code> claims::settle(claim_id which, transaction effects, bool is_once) {
  auto found = find_ours(which);
  if (found == ours_.end()) co_return errc::superseded;
  const auto& session = frame_->session;
  const auto bound = found->second.bound;
  const auto claim = frame_->where.claim(which.name);
  const auto mark = is_once || !effects.empty() ? mark_of(found->second, effects) : std::string();
  const auto all = removal_of(which.name, mark).append(effects);
  bool maybe_done = false;
  for (;;) {
    auto answer = co_await session->perform(backend::make_multi(all), retry::once, bound);
    const bool is_cut = may_have_happened(answer.error) || is_cancelled(answer.error);
    maybe_done = maybe_done || (is_cut && answer.sent);
    if (is_cancelled(answer.error) && maybe_done) clear_up(which, mark, bound);
    found = find_ours(which);
    if (found == ours_.end()) {
      // Another operation of this process settled the item, or it was taken again after an operator removed the claim.
      if (is_cancelled(answer.error) || answer.error == errc::closed) co_return answer.error;
      if (answer.error && maybe_done) co_return co_await judge_unheld(which, mark, bound);
      if (!answer.error && !mark.empty()) session->remove_surely(claim, bound);
      co_return answer.error ? errc::superseded : error_code();
    }
    if (is_cut && answer.sent) found->second.open.push_back({mark, effects});
    if (is_reply_lost(answer.error)) continue;
    const int place = failed_at(answer);
    const bool has_gone = answer.error == errc::no_node && (place == 0 || place == 1);
    if (answer.error && !has_gone && answer.error != errc::session_expired) co_return answer.error;  // item still ours
    auto error = answer.error;
    if (error) error = co_await judge(which, mark);
    const bool is_unheld = error == errc::superseded && maybe_done && find_ours(which) == ours_.end();
    if (is_unheld) co_return co_await judge_unheld(which, mark, bound);
    if (is_cancelled(error)) clear_up(which, mark, bound);
    if (is_cancelled(error) || error == errc::closed) co_return error;
    if (found = find_ours(which); found != ours_.end()) ours_.erase(found);
    // If our claim has gone, a claim of this name may be another taker's. With our mark, or without its item, the claim
    // belongs to nobody and is removed.
    const bool may_be_marked = !mark.empty() && (!error || error == errc::outcome_unknown);
    if (place == 1 || may_be_marked) session->remove_surely(claim, bound);
    co_return error;
  }
}

/// Judges a settlement whose claim no longer holds the item: another operation of this process has settled it, or it
/// was taken again after an operator removed the claim. The mark of a try that was done is in the claim node, unless it
/// has been removed already. Without a mark it matters only whether the item is there.
awaitable<error_code> claims::judge_unheld(claim_id which, std::string mark, incarnation_ptr bound) {
  const auto path = mark.empty() ? frame_->where.item(which.name) : frame_->where.claim(which.name);
  const auto look = make_request(mark.empty() ? opcode::exists : opcode::get, path);
  backend::reply there;
  do {
    there = co_await frame_->session->perform(look, retry::always, bound);
  } while (is_reply_lost(there.error));
  if (is_cancelled(there.error)) clear_up(which, mark, bound);
  if (is_cancelled(there.error) || there.error == errc::closed) co_return there.error;
  if (mark.empty() && there.error == errc::no_node) co_return error_code();
  if (there.error && there.error != errc::no_node) clear_up(which, mark, bound);
  if (there.error) co_return co_await judge_by_item(which);
  if (mark.empty() || there.data != mark) co_return errc::superseded;
  frame_->session->remove_surely(path, bound);
  co_return error_code();
}

/// For a claim that has gone or can not be read. If the item is still there, nothing was done, because a settlement
/// removes the item.
awaitable<error_code> claims::judge_by_item(claim_id which) {
  const auto look = make_request(opcode::exists, frame_->where.item(which.name));
  backend::reply item;
  do {
    item = co_await frame_->session->perform(look, retry::always);
  } while (is_reply_lost(item.error));
  if (is_cancelled(item.error) || item.error == errc::closed) co_return item.error;
  co_return item.error ? errc::outcome_unknown : errc::superseded;
}

/// A settlement was refused because the item, the claim or the session has gone: finds out whether an earlier try of it
/// had been done.
awaitable<error_code> claims::judge(claim_id which, std::string mark) {
  for (;;) {
    auto found = find_ours(which);
    if (found == ours_.end()) co_return errc::superseded;
    const auto& item = found->second;
    const auto bound = item.bound;
    const auto is_this = [&](const settlement& each) { return each.mark == mark; };
    if (std::ranges::none_of(item.open, is_this)) co_return errc::superseded;
    if (!item.done.empty()) co_return item.done == mark ? error_code() : make_error_code(errc::superseded);
    std::vector<backend::request> looks;
    looks.push_back(make_request(opcode::get, frame_->where.claim(which.name)));
    looks.push_back(make_request(opcode::exists, frame_->where.item(which.name)));
    auto seen = co_await frame_->session->perform_all(std::move(looks));
    const auto& claim = seen[0];
    const auto& why = seen[1].error;
    if (is_reply_lost(why) || why == errc::session_expired) continue;
    if (why && why != errc::no_node) co_return why;
    if (!why) co_return errc::superseded;  // the item is there, but a settlement would have removed it
    const bool is_claimed = !claim.error && !bound->ended;
    if (is_claimed) co_return !mark.empty() && claim.data == mark ? error_code() : make_error_code(errc::superseded);
    found = find_ours(which);  // another try of the same settlement may have been judged meanwhile
    if (found != ours_.end() && !mark.empty() && found->second.done == mark) co_return error_code();
    const bool is_done = mark.empty() && !bound->ended;  // by us, or by another taker after an operator
    co_return is_done ? error_code() : make_error_code(errc::outcome_unknown);
  }
}

/// For a settlement that may have been done, and whose caller waits no more: removes the claim node if it has the
/// settlement's mark, in the background.
void claims::clear_up(claim_id which, std::string mark, incarnation_ptr bound) {
  if (mark.empty()) return;
  auto clearing =
      owning(shared_from_this(), &claims::see_what_became, std::move(which), std::move(mark), std::move(bound));
  launch_detached(frame_->session->strand(), std::move(clearing));
}

awaitable<void> claims::see_what_became(claim_id which, std::string mark, incarnation_ptr bound) {
  const auto path = frame_->where.claim(which.name);
  auto look = make_request(opcode::get, path);
  backend::reply there;
  do {
    there = co_await frame_->session->perform(look, retry::always, bound);
  } while (is_reply_lost(there.error));
  if (there.error || there.data != mark) co_return;
  if (auto found = find_ours(which); found != ours_.end()) found->second.done = mark;
  frame_->session->remove_surely(path, bound);
}

}  // namespace zkrecipes::detail
