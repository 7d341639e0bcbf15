#include "change/resignation.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/status.hpp"
#include "line/line_spec.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

/// The election at `path`, which somebody leads. Throws `failure` with the reason if nobody can be asked.
asio::awaitable<election_status> led_election(zkrecipes::session session, std::string path) {
  auto seen = co_await view_election(session, path);
  if (!seen) throw failure(exit_code::error, "there is no election at " + path);
  if (seen->phase == refused_phase) check(errc::no_auth, "reading " + path);
  if (seen->phase == foreign_phase) throw failure(exit_code::error, path + " holds data that is not an election's");
  if (!seen->leader) throw failure(exit_code::error, "nobody leads at " + path);
  co_return std::move(*seen);
}

std::string asked_text(const candidate_status& leader, const std::string& path, std::chrono::milliseconds ago) {
  return printable(label(leader)) + " was asked to give up " + printable(path) + " " + short_duration(ago) +
         " ago, and is still there";
}

/// Throws `failure` if the library did not prepare a request to this leader.
void require_request(const error_code& error, const zkrecipes::transaction& request, const candidate_status& leader,
                     const std::string& path) {
  if (error == errc::foreign_data)
    throw failure(exit_code::error, printable(label(leader)) +
                                        " is no client of zkrecipes: it does not listen to such a "
                                        "request, and its data is not ours to change");
  const auto& operations = request.operations();
  const bool is_same = !error && !operations.empty() && operations.front().path.ends_with("/" + leader.node);
  if (error == errc::no_node || (!error && !is_same))
    throw failure(exit_code::error, "the leader has just changed: try again");
  check(error, "reading " + path);
}

/// Throws `failure` if the one in front holds a lock of this library: it has the names of some elections.
asio::awaitable<void> require_no_lock(zkrecipes::session session, const candidate_status& leader, std::string path) {
  const auto node = co_await find_node(std::move(session), join(path, leader.node));
  const auto record = node ? zkrecipes::detail::read_member(node->data) : std::nullopt;
  if (record && record->is("member"))
    throw failure(exit_code::error, printable(path) + " is a lock, which " + printable(label(leader)) +
                                        " holds: ask for it by `zkadmin revoke`");
}

}  // namespace

asio::awaitable<resignation> find_resignation(zkrecipes::session session, std::string path) {
  auto seen = co_await led_election(session, path);
  resignation found{std::move(*seen.leader), seen.epoch, seen.resignation_asked};
  if (found.asked_before) co_return found;
  zkrecipes::election election(session, path, {.id = "zkadmin"});
  auto prepared = co_await election.async_resignation_request(as_result);
  if (std::get<0>(prepared) == errc::foreign_data) co_await require_no_lock(session, found.leader, path);
  require_request(std::get<0>(prepared), std::get<1>(prepared), found.leader, path);
  found.request.requests = std::move(std::get<1>(prepared));
  found.request.done = "asked " + label(found.leader) + " to give up " + path;
  found.request.if_gone = "the leader has just given up: nothing was written";
  found.request.if_changed = "the leader's node has just been written: nothing was done, try again";
  co_return found;
}

asio::awaitable<intervention> prepare_resignation(zkrecipes::session session, std::string path) {
  auto found = co_await find_resignation(std::move(session), path);
  if (found.asked_before)
    throw failure(exit_code::error, asked_text(found.leader, path, *found.asked_before) + ": nothing was sent");
  co_return std::move(found.request);
}

asio::awaitable<std::optional<intervention>> prepare_eviction(zkrecipes::session session, std::string path,
                                                              candidate_status leader) {
  const seen_node node{join(path, leader.node), leader.token};
  auto removal = co_await prepare_removal(std::move(session), node, "the leader");
  if (removal) removal->done = "ended the place of " + label(leader) + " at " + path;
  co_return removal;
}

using std::chrono::milliseconds;
using zkrecipes::election_view;
using zkrecipes::term_phase;

const char* to_string(hand_over_state state) noexcept {
  switch (state) {
    case hand_over_state::requested: return "requested";
    case hand_over_state::seen: return "seen";
    case hand_over_state::finishing: return "finishing";
    case hand_over_state::awaiting: return "awaiting";
    case hand_over_state::inaugurating: return "inaugurating";
    case hand_over_state::executing: return "executing";
  }
  return "?";
}

namespace {

/// The successor: the one that leads or, while nobody does, the first in line that is not the leader that was asked.
std::string successor_in(const election_view& view, std::int64_t token) {
  if (view.leader_token != 0 && view.leader_token != token) return view.leader;
  if (view.hand_over && !view.hand_over->to.empty()) return view.hand_over->to;
  const auto is_other = [token](const auto& each) { return each.token != token; };
  const auto next = std::find_if(view.candidates.begin(), view.candidates.end(), is_other);
  return next == view.candidates.end() ? std::string() : next->id;
}

}  // namespace

hand_over_progress::hand_over_progress(std::string leader, std::int64_t token, std::int64_t epoch)
    : leader_(std::move(leader)), token_(token), epoch_(epoch) {
  steps_.push_back({hand_over_state::requested, milliseconds(0), leader_, {}, epoch_, {}});
}

std::optional<hand_over_state> hand_over_progress::state_in(const election_view& view) const {
  if (view.leader_token == token_) {
    return view.phase == term_phase::handing_over ? hand_over_state::finishing : hand_over_state::requested;
  }
  if (view.leader_token != 0)
    return view.phase == term_phase::inaugurating ? hand_over_state::inaugurating : hand_over_state::executing;
  const bool is_awaited = view.epoch <= epoch_ && view.hand_over && view.hand_over->state == "awaiting";
  return is_awaited ? std::optional(hand_over_state::awaiting) : std::nullopt;
}

std::vector<hand_over_step> hand_over_progress::update(const election_view& view, milliseconds since_request) {
  const auto is_it = [this](const auto& each) { return each.token == token_; };
  holds_place_ = std::any_of(view.candidates.begin(), view.candidates.end(), is_it);
  const auto before = steps_.size();
  const auto shown = state_in(view);
  if (!shown || *shown <= last().state) return {};
  if (*shown == hand_over_state::finishing) add(hand_over_state::seen, view, since_request);
  add(*shown, view, since_request);
  if (view.phase == term_phase::executing && view.began)
    inaugurated_in_ = std::chrono::duration_cast<milliseconds>(view.since - *view.began);
  return {steps_.begin() + static_cast<std::ptrdiff_t>(before), steps_.end()};
}

void hand_over_progress::add(hand_over_state shown, const election_view& view, milliseconds at) {
  const bool has_followed = shown >= hand_over_state::inaugurating;
  const std::string takeover = has_followed && view.how ? to_string(*view.how) : "";
  steps_.push_back({shown, at, leader_, successor_in(view, token_), view.epoch, takeover});
}

const hand_over_step* hand_over_progress::find(hand_over_state which) const {
  const auto is_it = [which](const auto& each) { return each.state == which; };
  const auto found = std::find_if(steps_.begin(), steps_.end(), is_it);
  return found == steps_.end() ? nullptr : &*found;
}

std::vector<hand_over_part> hand_over_progress::parts() const {
  std::vector<hand_over_part> all;
  // A leader that retires leaves nothing to wait for.
  const bool needs_no_wait = is_done() && (last().takeover == "clean" || last().takeover == "first");
  for (std::size_t i = 0; i < hand_over_states; ++i) {
    hand_over_part part{.state = static_cast<hand_over_state>(i)};
    part.was_seen = find(part.state) != nullptr;
    part.was_skipped = part.state == hand_over_state::awaiting && !part.was_seen && needs_no_wait;
    part.from_record = part.state == hand_over_state::inaugurating && !part.was_seen && inaugurated_in_;
    if (part.from_record) part.lasted = inaugurated_in_;
    part.at_most = part.from_record;  // a leader may have written its figures since
    all.push_back(part);
  }
  for (auto each = all.begin(); each != all.end(); ++each)
    if (each->was_seen && each->state != hand_over_state::seen) measure(*each, std::next(each), all.end());
  return all;
}

/// From when a state was seen to when another one was, with the states between them that were not.
void hand_over_progress::measure(hand_over_part& part, part_iterator next, part_iterator end) const {
  bool has_missed = false;
  for (; next != end && !next->was_seen; ++next) has_missed = has_missed || !next->was_skipped;
  if (next == end) return;
  part.lasted = find(next->state)->at - find(part.state)->at;
  part.at_most = has_missed;
}

}  // namespace zkadmin
