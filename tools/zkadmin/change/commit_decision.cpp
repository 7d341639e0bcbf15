#include "change/commit_decision.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/line_status.hpp"
#include "cluster/recognize.hpp"
#include "commit/commit_transaction.hpp"
#include "session/paths.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using std::chrono::milliseconds;
using zkrecipes::ballot;
using zkrecipes::decision;
using zkrecipes::errc;
using zkrecipes::error_code;

/// What the rule needs to know of an undecided transaction.
struct undecided_sight {
  detail::commit_sight seen{};
  std::vector<std::string> missing{};               ///< Participants without a vote.
  std::optional<zkrecipes::commit_vote> refusal{};  ///< A vote that is no yes, which should have decided.
  std::string coordinator{};                        ///< The first that stands for it; empty: nobody.
};

failure undecidable(const std::string& why) { return failure(exit_code::error, printable(why) + ": nothing was sent"); }

asio::awaitable<detail::commit_sight> read_record(zkrecipes::session session, std::string node) {
  auto reading = co_await session.async_get(node, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) throw failure(exit_code::error, "there is no transaction at " + printable(node));
  check(error, "reading " + node);
  auto& data = std::get<1>(reading);
  auto record = detail::parse_commit(data.data);
  if (!record) throw failure(exit_code::error, printable(node) + " holds no record of a transaction");
  detail::commit_sight seen;
  seen.record = std::move(*record);
  seen.stat = data.stat;
  co_return seen;
}

/// A vote that can not be read is no vote of yes.
asio::awaitable<void> read_votes(zkrecipes::session session, std::string node, undecided_sight& into) {
  auto children = co_await find_children(session, node);
  if (children) into.seen.children = std::move(*children);
  into.missing = detail::missing_votes(into.seen.record, into.seen.children);
  for (const auto& each : into.seen.record.participants) {
    const auto path = detail::vote_node(node, each);
    const bool is_missing = std::find(into.missing.begin(), into.missing.end(), each) != into.missing.end();
    if (is_missing) continue;
    auto reading = co_await session.async_get(path, as_result);
    check(std::get<0>(reading), "reading " + path);
    auto vote = detail::parse_vote(std::get<1>(reading).data);
    if (!vote) throw undecidable(path + " holds no vote");
    vote->participant = each;
    if (vote->ballot != ballot::yes && !into.refusal) into.refusal = std::move(*vote);
  }
}

asio::awaitable<std::string> find_coordinator(zkrecipes::session session, std::string path) {
  const auto names = co_await find_children(session, path + "/_coordinator");
  if (!names) co_return std::string();
  for (const auto& each : *names) {
    if (!is_candidate_name(each)) continue;
    auto reading = co_await session.async_get(path + "/_coordinator/" + each, as_result);
    const error_code error = std::get<0>(reading);
    if (error == errc::no_node) continue;
    check(error, "reading the coordinators of " + path);
    const auto& id = std::get<1>(reading).data;
    co_return id.empty() ? each : id;
  }
  co_return std::string();
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) append_to_list(text, names[i]);
  return names.size() > most ? text + ", ..." : text;
}

/// For how long a transaction has been undecided.
struct open_time {
  milliseconds span{0};
  bool is_by_own_clock = true;  ///< Not by that of the servers.
  milliseconds skew{0};         ///< How far that clock may be ahead.
};

std::string to_text(const open_time& open) {
  return short_duration(open.span) + (open.is_by_own_clock ? " by this machine's clock" : "");
}

/// By the clock of the servers, which a node tells that is made and removed at once. Nothing if it may not be made.
asio::awaitable<std::optional<milliseconds>> servers_clock(zkrecipes::session session, std::string path) {
  constexpr auto mode = zkrecipes::create_mode::ephemeral_sequential;  // else it goes with our session
  auto made = co_await session.async_create(detail::join(path, "_clock-"), std::string(), mode, as_result);
  if (std::get<0>(made)) co_return std::nullopt;
  const auto& node = std::get<1>(made);
  co_await session.async_remove(node.path, zkrecipes::any_version, as_result);
  co_return milliseconds(node.stat.ctime);
}

/// Throws `failure` if votes that are missing may still come.
void require_overdue(const undecided_sight& sight, const std::string& id, const open_time& open, milliseconds limit) {
  const auto votes = first_of(sight.missing) + (sight.missing.size() == 1 ? " has" : " have") + " not voted on " + id;
  if (!sight.coordinator.empty())
    throw undecidable(votes + ", and its coordinator is there, which decides in its time: " + sight.coordinator);
  if (open.span < limit + open.skew)
    throw undecidable(votes + ", and may still do so: it is undecided for " + to_text(open) +
                      ", and the limit (transaction_limit) is " + short_duration(limit) +
                      (open.skew > milliseconds(0) ? ", and " + short_duration(open.skew) + " for that clock" : ""));
}

/// Sets the outcome, and returns why.
std::string decide(undecided_sight& sight, const std::string& id, const open_time& open, milliseconds limit) {
  auto& outcome = sight.seen.record.outcome;
  if (sight.refusal) {
    outcome = {decision::aborted, sight.refusal->participant + ": " + sight.refusal->reason};
    return "aborted, because " + sight.refusal->participant + " has not voted yes";
  }
  if (sight.missing.empty()) {
    outcome = {decision::committed, {}};
    return "committed, because all participants have voted yes: " + first_of(sight.seen.record.participants);
  }
  require_overdue(sight, id, open, limit);
  outcome = {decision::aborted, "an operator decided, without a vote of: " + first_of(sight.missing)};
  return "aborted, because there is no coordinator, and no vote of " + first_of(sight.missing) + " for " +
         to_text(open);
}

}  // namespace

asio::awaitable<intervention> prepare_decision(zkrecipes::session session, std::string path, std::string id,
                                               milliseconds limit, bool may_write) {
  constexpr milliseconds most_skew = std::chrono::minutes(1);  // of our clock, if the servers do not tell theirs
  if (!detail::is_transaction_id(id)) throw failure(exit_code::usage, "TRANSACTION: no id of a transaction");
  const auto present = co_await session.async_sync(as_result);
  check(std::get<0>(present), "catching up");
  const auto node = detail::join(path, id);
  undecided_sight sight;
  sight.seen = co_await read_record(session, node);
  if (sight.seen.record.decided())
    throw undecidable(id + " of " + path + " is decided: " + to_string(sight.seen.record.outcome.decision));
  co_await read_votes(session, node, sight);
  sight.coordinator = co_await find_coordinator(session, path);
  const bool may_be_overdue = !sight.refusal && !sight.missing.empty() && sight.coordinator.empty();
  std::optional<milliseconds> servers;
  if (may_write && may_be_overdue) servers = co_await servers_clock(session, path);
  const auto skew = may_write && !servers ? most_skew : milliseconds(0);
  const open_time open{age_of(sight.seen.stat, servers.value_or(clock_now())), !servers, skew};
  const auto why = decide(sight, id, open, limit);
  intervention change;
  change.requests = detail::deciding(node, sight.seen);
  change.same = {{node, sight.seen.stat.czxid}};
  change.because = id + " of " + path + " is " + why;
  change.done = "decided " + id + " of " + path + ": " + to_string(sight.seen.record.outcome.decision);
  change.if_gone = "the transaction, or a vote on it, has just been removed: nothing was decided";
  change.if_changed = "another has just decided the transaction: nothing was written";
  co_return change;
}

}  // namespace zkadmin
