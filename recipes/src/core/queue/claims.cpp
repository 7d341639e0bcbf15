#include "queue/claims.hpp"

#include <algorithm>
#include <utility>

#include "queue/queue_layout.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A retry can not change this result.
bool ends_the_removal(const error_code& error) {
  return !error || error == errc::no_auth || error == errc::session_expired || is_fatal(error);
}

}  // namespace

claims::attempt claims::begin(entry what) {
  const auto& session = frame_->session;
  const auto& where = frame_->where;
  attempt one{std::move(what), session->make_guid(), session->current(), session->now(), nullptr, nullptr, nullptr};
  // These requests are sent together and cost one round trip. The claim node holds our GUID, so that we recognise it if
  // the reply is lost.
  transaction all;
  all.create(where.claim(one.what.name), one.guid, create_mode::ephemeral);
  count_attempts(all, where.item(one.what.name), 1);
  one.claiming = session->send(backend::make_multi(all));
  try {
    one.reading = session->send(make_request(opcode::get, where.item(one.what.name)));
    if (where.kind == queue_kind::delayed) {
      one.stamping = session->send(make_request(opcode::exists, where.claim(one.what.name)));
    }
  } catch (...) {  // no memory
    abandon(one);
    throw;
  }
  return one;
}

void claims::abandon(const attempt& which) {
  if (which.claiming) abandon({which.what.name, which.guid, which.bound});
}

awaitable<claim_result> claims::finish(attempt& which) {
  claim_result result;
  result.error = co_await is_claimed(which, result.at_item);
  if (is_cancelled(result.error)) abandon({which.what.name, which.guid, which.bound});
  if (result.error) co_return result;
  auto look = make_request(opcode::get, frame_->where.item(which.what.name));
  auto read = co_await read_surely(which.reading, std::move(look), which.bound);
  backend::reply stamp;
  if (which.stamping) {
    look = make_request(opcode::exists, frame_->where.claim(which.what.name));
    stamp = co_await read_surely(which.stamping, std::move(look), which.bound);
  }
  result.error = read.error ? read.error : stamp.error;
  result.at_item = result.error == errc::no_auth;
  if (!result.error && which.stamping && is_early(which, stamp)) result.error = errc::busy;
  if (result.error) {
    abandon({which.what.name, which.guid, which.bound});
    co_return result;
  }
  forget_ended();
  auto name = which.what.name;
  ours_[which.what.name] = {which.bound, which.guid, read.stat.pzxid, {}, {}};
  result.item = {std::move(name), std::move(read.data), read.stat, attempts_of(read.stat)};
  co_return result;
}

/// The reply to a read that was sent together with the claim. The read is repeated if the connection broke or the
/// server throttled.
awaitable<backend::reply> claims::read_surely(exchange_ptr asked, backend::request look, incarnation_ptr bound) {
  auto read = co_await frame_->session->answer(std::move(asked));
  while (is_reply_lost(read.error) || read.throttled) {
    read = co_await frame_->session->perform(look, retry::always, bound);
    read.throttled = false;  // `perform` has already retried it up to the retry limit
  }
  co_return read;
}

/// No error if the claim is ours. After a lost reply the number of tries is not limited, because a claim that we did
/// not know of would block the item for as long as our session lives.
awaitable<error_code> claims::is_claimed(attempt& which, bool& at_item) {
  const auto& session = frame_->session;
  const auto deadline = session->retry_deadline();
  auto pause = session->backoff();
  for (;;) {
    auto answer = co_await session->answer(which.claiming);
    const int place = failed_at(answer);
    error_code error;
    if (is_reply_lost(answer.error)) {
      error = co_await find(session, frame_->where.claim(which.what.name), which.guid, which.bound);
      if (error != errc::no_node) co_return error;  // no_node: the request did not arrive, there is no claim yet
    } else if (answer.error == errc::no_node && place == 0 && frame_->where.is_apart()) {
      error = co_await session->ensure_path(frame_->where.side, which.bound);
      if (error && !is_reply_lost(error)) co_return error;
    } else if (answer.throttled && session->now() < deadline) {
      error = co_await session->pause_before_retry(pause, which.bound);
      if (error) co_return error;
    } else {
      at_item = place > 0 && answer.error != errc::no_node;
      co_return answer.error;
    }
    error = co_await session->wait_connected(which.bound, never);
    if (error) co_return error;
    which = begin(std::move(which.what));
  }
}

/// After a lost reply: no error if the claim is ours, `node_exists` if it is another taker's, `no_node` if there is
/// none.
awaitable<error_code> claims::find(core_ptr over, std::string path, std::string guid, incarnation_ptr bound) {
  auto look = make_request(opcode::get, std::move(path));
  backend::reply there;
  do {
    there = co_await over->perform(look, retry::always, bound);
  } while (is_reply_lost(there.error));
  co_return !there.error && there.data != guid ? make_error_code(errc::node_exists) : there.error;
}

/// Removes our claim in the background if it exists; never another taker's claim. This does not keep the session open,
/// because the claim node is ephemeral and ends with the session.
void claims::abandon(ending which, exchange_ptr first_try) {
  launch_detached(frame_->session->strand(), remove_claim(frame_, std::move(which), std::move(first_try)));
}

/// Another taker can create a claim of the same name as soon as ours has gone, so we look before each try whose claim
/// it is. The transaction that removes the claim also takes the attempt off the count, so that a lost reply leaves both
/// or neither.
awaitable<void> claims::remove_claim(shared_frame frame, ending which, exchange_ptr first_try) {
  const auto over = frame->session;
  const auto claim = frame->where.claim(which.name);
  const auto item = frame->where.item(which.name);
  back_off pauses(over->options().retry.first_pause, over->options().retry.max_pause);
  backend::reply done;
  done.error = errc::connection_loss;
  if (first_try) done = co_await over->answer(first_try);
  while (!ends_the_removal(done.error)) {
    const bool in_vain = !is_reply_lost(done.error) && done.error != errc::bad_version && done.error != errc::no_node;
    if (in_vain) co_await over->changed().wait(pauses.next(*over->get_scheduler()));
    std::vector<backend::request> looks{make_request(opcode::get, claim), make_request(opcode::get, item)};
    auto seen = co_await over->perform_all(std::move(looks), which.bound);
    done.error = seen[0].error;
    if (done.error == errc::no_node || (!done.error && seen[0].data != which.guid)) co_return;
    // The item is read again, because the removal of the claim also corrects the item's attempts.
    if (!done.error && is_untold(seen[1].error)) done.error = seen[1].error;
    if (done.error) continue;
    transaction all;
    all.remove(claim);
    if (!which.counts && !seen[1].error) all.set(item, std::move(seen[1].data), seen[1].stat.version);
    done = co_await over->perform(backend::make_multi(all), retry::once, which.bound);
    const bool is_forbidden = done.error == errc::no_auth && failed_at(done) == 1;
    if (is_forbidden || (done.error == errc::too_large && !which.counts)) {
      which.counts = true;  // the item can not be written: remove the claim alone
      done.error = errc::bad_version;
    }
  }
}

bool claims::is_early(const attempt& which, const backend::reply& stamp) {
  if (which.what.rank <= stamp.stat.ctime) return false;
  clock_->observe(stamp.stat.ctime, which.sent, frame_->session->now());
  return true;
}

/// Forgets the claims of ended sessions, because other takers may have claimed those items since.
void claims::forget_ended() {
  std::erase_if(ours_, [](const auto& each) { return static_cast<bool>(each.second.bound->ended); });
}

awaitable<claim_result> claims::remove(message item) {
  const auto& session = frame_->session;
  claim_result result;
  result.item = std::move(item);
  const auto& name = result.item.name;
  attempt one{{name, 0, 0}, session->make_guid(), session->current(), session->now(), nullptr, nullptr, nullptr};
  transaction all;
  all.create(frame_->where.claim(name), one.guid, create_mode::ephemeral);
  all.remove(frame_->where.item(name), result.item.stat.version);
  try {
    for (bool maybe_done = false;;) {
      auto answer = co_await session->perform(backend::make_multi(all), retry::once, one.bound);
      result.error = answer.error;
      const int place = failed_at(answer);
      result.at_item = place > 0 && answer.error != errc::no_node && answer.error != errc::bad_version;
      maybe_done = maybe_done || (is_reply_lost(answer.error) && answer.sent);
      if (is_reply_lost(answer.error))
        result.error = co_await find(session, frame_->where.claim(name), one.guid, one.bound);
      if (is_reply_lost(answer.error) && result.error == errc::no_node) continue;
      if (answer.error == errc::no_node && place == 0 && frame_->where.is_apart()) {
        result.error = co_await session->ensure_path(frame_->where.side, one.bound);
        if (!result.error || is_reply_lost(result.error)) continue;
      }
      // The claim node, which would show the result, has gone: our session ended, or an operator removed it.
      const bool is_open =
          result.error == errc::session_expired || (result.error == errc::no_node && place == 1 && maybe_done);
      if (is_open && answer.sent) result.error = errc::outcome_unknown;
      if (is_cancelled(result.error))
        abandon({name, one.guid, one.bound, true});  // true: this claim counted no attempt
      if (!result.error) {
        session->remove_surely(frame_->where.claim(name), one.bound);
        ++result.item.attempts;
      }
      co_return result;
    }
  } catch (...) {  // no memory
    abandon({name, one.guid, one.bound, true});
    throw;
  }
}

claims::held_items::iterator claims::find_ours(const claim_id& which) {
  auto found = ours_.find(which.name);
  return found != ours_.end() && found->second.zxid == which.zxid ? found : ours_.end();
}

incarnation_ptr claims::bound_of(const claim_id& which) const {
  auto found = ours_.find(which.name);
  return found != ours_.end() && found->second.zxid == which.zxid ? found->second.bound : nullptr;
}

bool claims::holds(const std::string& name) const {
  const auto found = ours_.find(name);
  return found != ours_.end() && !found->second.bound->ended;
}

awaitable<error_code> claims::release(claim_id which) {
  auto found = find_ours(which);
  if (found == ours_.end()) co_return errc::superseded;
  const auto bound = found->second.bound;
  const auto guid = found->second.guid;
  ours_.erase(found);
  if (bound->ended) co_return errc::superseded;  // a claim of this name may be another taker's by now
  auto sent = frame_->session->send(make_request(opcode::remove, frame_->where.claim(which.name)));
  auto result = co_await frame_->session->answer(sent);
  if (!result.error) co_return result.error;
  if (result.error == errc::no_node) co_return errc::superseded;  // an operator has removed the claim
  abandon({which.name, guid, bound, true});
  if (is_expired(result.error)) co_return errc::superseded;
  const bool is_tried_again = is_reply_lost(result.error) || is_server_refusal(result.error);
  co_return is_tried_again ? error_code() : result.error;
}

void claims::take_back(const message& item) {
  auto found = find_ours(claim_id(item));
  if (found == ours_.end()) return;
  auto [name, one] = std::move(*found);
  ours_.erase(found);
  if (one.bound->ended) return;  // our claim ended with it; a claim of this name may be another taker's
  transaction all;
  all.remove(frame_->where.claim(name)).set(frame_->where.item(name), item.data, item.stat.version);
  abandon({name, one.guid, one.bound}, frame_->session->send(backend::make_multi(all)));
}

awaitable<backend::reply> claims::read_again(claim_id which) {
  backend::reply read;
  auto bound = bound_of(which);
  if (!bound) {
    read.error = errc::superseded;
    co_return read;
  }
  auto look = make_request(opcode::get, frame_->where.item(which.name));
  do {
    read = co_await frame_->session->perform(look, retry::always, bound);
  } while (is_reply_lost(read.error));
  if (read.error == errc::no_node || read.error == errc::session_expired) {
    if (auto found = find_ours(which); found != ours_.end()) ours_.erase(found);
    if (read.error == errc::no_node) frame_->session->remove_surely(frame_->where.claim(which.name), bound);
    read.error = errc::superseded;
  }
  co_return read;
}

// Settles an item: removes it and its claim together with the effects, and finds out after a lost reply whether that
// was done.

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
      owning(shared_from_this(), &claims::check_settlement, std::move(which), std::move(mark), std::move(bound));
  launch_detached(frame_->session->strand(), std::move(clearing));
}

awaitable<void> claims::check_settlement(claim_id which, std::string mark, incarnation_ptr bound) {
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
