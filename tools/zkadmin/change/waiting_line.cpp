#include "change/waiting_line.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "change/intervention.hpp"
#include "cluster/collector.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"
#include "line/line_spec.hpp"
#include "semaphore/semaphore.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;

constexpr const char* curators_request = "__REVOKE__";
constexpr std::size_t most_holders = 1'000;  // Requests of one transaction.
constexpr std::size_t most_told = 3;

/// Nodes with these names are made by this library only, and each version of it reads requests.
bool is_permit(const line_place& who) { return who.node.find("-permit-") != std::string::npos; }

bool is_kazoos(const line_place& who) { return who.node.find("lock__") != std::string::npos; }

/// The data with the request; nothing if the member can not be asked, and then why.
std::optional<std::string> with_request(const line_place& who, const revocation_choice& choice, std::string& obstacle) {
  const bool is_ours = is_permit(who) || detail::is_revocable(who.data);
  if (!who.is_readable) {
    obstacle = "its data may not be read";
  } else if (is_ours) {
    return detail::with_revocation(who.data, choice.grace.value_or(detail::any_grace));
  } else if (who.data == curators_request) {
    return who.data;
  } else if (is_kazoos(who)) {
    obstacle = "it is a client of kazoo, which knows no such request";
  } else if (choice.in_curators_form) {
    return curators_request;
  } else {
    obstacle =
        "its data does not say that it listens to requests. If it is a client of Curator whose program has made the "
        "lock "
        "revocable, --curator writes Curator's request in place of its data";
  }
  return std::nullopt;
}

std::string names_of(const std::vector<asked_holder>& holders) {
  std::string names;
  for (std::size_t i = 0; i < std::min(holders.size(), most_told); ++i) append_to_list(names, label(holders[i].place));
  if (holders.size() > most_told) names += " and " + std::to_string(holders.size() - most_told) + " more";
  return names;
}

bool is_meant(const line_place& who, const std::string& of) {
  return who.node == of || (who.is_readable && who.id == of);
}

failure nobody(const waiting_line& line, const std::string& of) {
  if (of.empty()) return failure(exit_code::error, "nobody holds " + printable(line.path));
  const auto found =
      std::find_if(line.places.begin(), line.places.end(), [&of](const auto& each) { return is_meant(each, of); });
  if (found == line.places.end()) return failure(exit_code::error, printable(of + " is not in line at " + line.path));
  if (found->role == place_role::waiter)
    return nothing_was_sent(of + " waits at " + line.path +
                            ", and does not hold it; take it out of the line with `zkadmin evict`");
  return nothing_was_sent("it is not known whether " + of + " holds " + line.path);
}

std::vector<line_place> holders_of(const waiting_line& line, const std::string& of) {
  std::vector<line_place> all;
  for (const auto& each : line.places)
    if (each.role == place_role::holder && (of.empty() || is_meant(each, of))) all.push_back(each);
  if (all.empty()) throw nobody(line, of);
  if (!of.empty() && all.size() > 1)
    throw nothing_was_sent(std::to_string(all.size()) + " holders have the id " + of + "; name the node of one");
  if (all.size() > most_holders)
    throw nothing_was_sent(std::to_string(all.size()) + " members hold " + line.path +
                           ", too many for one request; name one by --of");
  return all;
}

void add(revocation& all, line_place who, const revocation_choice& choice) {
  asked_holder holder{std::move(who)};
  const auto data = with_request(holder.place, choice, holder.obstacle);
  if (!data && !choice.force) {
    const auto text = printable(label(holder.place) + " can not be asked to give up: " + holder.obstacle);
    throw failure(holder.place.is_readable ? exit_code::error : exit_code::auth, text + ": nothing was sent");
  }
  holder.was_asked = data && *data == holder.place.data;
  if (data && !holder.was_asked) all.request.requests.set(holder.place.path, *data, holder.place.stat.version);
  all.holders.push_back(std::move(holder));
}

}  // namespace

revocation revocation_of(const waiting_line& line, const revocation_choice& choice) {
  if (is_election(line))
    throw nothing_was_sent(line.path + " is an election; ask its leader with `zkadmin resign " + line.path + "`");
  revocation all{line.path, line.kinds.front(), {}};
  for (auto& each : holders_of(line, choice.of)) add(all, std::move(each), choice);
  all.request.done = "asked " + names_of(all.holders) + " to give up " + line.path;
  all.request.if_gone = "a holder has just given up: nothing was written, look again";
  all.request.if_changed = "a holder's node has just been written: nothing was done, try again";
  return all;
}

asio::awaitable<revocation> find_revocation(zkrecipes::session session, std::string path, recipe_query query,
                                            revocation_choice choice, deadline limit) {
  const auto line = co_await read_waiting_line(std::move(session), std::move(path), std::move(query), limit);
  co_return revocation_of(line, choice);
}

asio::awaitable<intervention> prepare_revocation(zkrecipes::session session, std::string path, recipe_query query,
                                                 revocation_choice choice, deadline limit) {
  auto found =
      co_await find_revocation(std::move(session), std::move(path), std::move(query), std::move(choice), limit);
  if (found.request.requests.empty())
    throw nothing_was_sent(names_of(found.holders) + " was asked to give up " + found.path +
                           " already, and still holds it");
  co_return std::move(found.request);
}

bool revocation_progress::is_done() const noexcept {
  return std::all_of(holders.begin(), holders.end(), [](const auto& each) { return each.gone_after.has_value(); });
}

revocation_progress progress_of(const revocation& found) {
  revocation_progress progress{found.path, {}};
  for (const auto& each : found.holders)
    progress.holders.push_back({label(each.place), each.place.node, each.obstacle.empty() && !each.was_asked});
  return progress;
}

namespace {

using zkrecipes::transaction;

constexpr std::string_view marks_of_candidates[] = {"latch-", "lock-", "__lock__"};
constexpr std::string_view marks_of_writers[] = {"__WRIT__", "__lock__"};
constexpr std::size_t most_conditions = 1'000;  // In one transaction.
constexpr std::size_t most_of_an_id = 5;        // Members with the same id.

bool has_kind(const waiting_line& line, recipe which) {
  return std::find(line.kinds.begin(), line.kinds.end(), which) != line.kinds.end();
}

/// If it may be of several kinds, the first one decides; they have the same order of members.
recipe first_kind(const waiting_line& line) { return line.kinds.front(); }

name_markers markers_of(const waiting_line& line) {
  switch (first_kind(line)) {
    case recipe::read_write_lock: return read_write_markers();
    case recipe::semaphore: return permit_markers();
    case recipe::election: return marks_of_candidates;
    default: return lock_markers();
  }
}

recipe_status status_of(const waiting_line& line, const node_line& nodes) {
  switch (first_kind(line)) {
    case recipe::read_write_lock: return read_write_lock_of(nodes);
    case recipe::semaphore: return semaphore_of(nodes);
    default: return lock_of(nodes, true);
  }
}

void require_line(const recipe_status& found) {
  constexpr recipe lines[] = {recipe::lock, recipe::read_write_lock, recipe::semaphore, recipe::election};
  const auto is_line = [&lines](recipe each) {
    return std::find(std::begin(lines), std::end(lines), each) != std::end(lines);
  };
  if (!std::all_of(found.kinds.begin(), found.kinds.end(), is_line))
    throw nothing_was_sent(found.path + " is a " + kind_text(found) +
                           ", and has no line of members that could be changed");
  if (found.access == recipe_access::no_access) zkadmin::check(zkrecipes::errc::no_auth, "reading " + found.path);
  if (found.access == recipe_access::missing)
    throw failure(exit_code::error, "there is no node " + printable(found.path));
  if (found.access != recipe_access::readable)
    throw nothing_was_sent(found.path + " holds data that is not this recipe's");
  const bool is_others = found.kinds.front() == recipe::semaphore && found.client != "zkrecipes";
  if (is_others)
    throw nothing_was_sent(found.path + " is a semaphore of " + found.client +
                           ", whose nodes do not tell who waits; `zkadmin delete" + " --force` deletes a single node");
}

asio::awaitable<waiting_line> recognize(zkrecipes::session session, std::string path, recipe_query query,
                                        deadline limit) {
  auto survey = co_await survey_recipe_at(std::move(session), path, std::move(query), limit);
  for (const auto& note : survey.notes)
    if (survey.found.empty()) throw failure(exit_code::error, printable(to_string(note)));
  if (survey.found.empty()) throw failure(exit_code::error, "there is no node " + printable(path));
  if (survey.found.size() > 1) throw nothing_was_sent(path + " is more than one recipe; name the kind with --kind");
  require_line(survey.found.front());
  waiting_line line{std::move(path), survey.found.front().kinds};
  co_return line;
}

line_place line_place_of(const std::string& path, const child_node& node) {
  line_place place{node.name, join(path, node.name)};
  place.is_readable = !node.is_refused;
  place.data = node.data;
  place.id = told_id(node.data);
  place.stat = *node.stat;
  return place;
}

bool writes(const line_place& who) { return detail::parse_sequence(who.node, marks_of_writers).has_value(); }

/// A session that holds a read-write lock can be let in past its own node: a reader of this library that becomes a
/// writer, a writer of Curator that also reads. Nothing in ZooKeeper tells it from a session that waits for itself.
bool is_own_hold(const line_place& ahead, const line_place& who) {
  const auto session = who.stat.ephemeral_owner;
  return session != 0 && ahead.role == place_role::holder && ahead.stat.ephemeral_owner == session;
}

/// A reader waits for the writers ahead that let nobody pass, a writer for everybody.
bool keeps_waiting(const line_place& ahead, const line_place& who) {
  if (is_own_hold(ahead, who)) return false;
  return writes(who) || (writes(ahead) && ahead.is_readable && !detail::is_shared(ahead.data));
}

/// Whether the order and the data that could be read do not tell who holds a semaphore: a member that was let in under
/// another size says so in its data, and for a while not even there.
bool may_hold(const detail::permit_record& record, const line_place& who) {
  return record.shrunk_from > 0 || (record.before > 0 && !who.is_readable);
}

void mark_unknown(waiting_line& line) {
  const auto which = first_kind(line);
  const auto record = which == recipe::semaphore ? detail::parse_permits(line.root.data) : std::nullopt;
  for (std::size_t i = 0; i < line.places.size(); ++i) {
    auto& who = line.places[i];
    if (who.role != place_role::waiter) continue;
    if (which == recipe::semaphore && (!record || may_hold(*record, who))) who.role = place_role::unknown;
    const auto end = line.places.begin() + static_cast<std::ptrdiff_t>(i);
    const auto keeps = [&who](const auto& each) { return keeps_waiting(each, who); };
    if (which == recipe::read_write_lock && std::none_of(line.places.begin(), end, keeps))
      who.role = place_role::unknown;
  }
}

void fill(waiting_line& line, node_line nodes) {
  std::map<std::string, place_role> roles;
  for (const auto& each : status_of(line, nodes).participants)
    roles[each.node] = each.role == "holder"   ? place_role::holder
                       : each.role == "waiter" ? place_role::waiter
                                               : place_role::unknown;
  for (const auto& each : nodes.members) {
    if (!each.stat) continue;
    auto place = line_place_of(line.path, each);
    place.role = roles[each.name];
    line.places.push_back(std::move(place));
  }
  line.others = std::move(nodes.others);
  line.root = std::move(nodes.root);
  mark_unknown(line);
}

/// The members ahead whose permits leave too few for this one, and the size by which they do.
std::optional<transaction> conditions_of_permits(const waiting_line& line, std::size_t which) {
  const auto record = detail::parse_permits(line.root.data);
  if (!record) return std::nullopt;
  transaction all;
  all.check(line.path, line.root.stat.version);
  std::int64_t sum = detail::weight_of(line.places[which].node);
  for (std::size_t i = 0; i < which && all.operations().size() < most_conditions; ++i) {
    const auto& ahead = line.places[i];
    if (!ahead.is_readable) continue;
    all.check(ahead.path);
    sum += detail::weight_of(ahead.node);
    if (sum > record->size) return all;
  }
  return std::nullopt;
}

failure no_such_node(const waiting_line& line, const std::string& node) {
  if (std::binary_search(line.others.begin(), line.others.end(), node))
    return nothing_was_sent(join(line.path, node) + " is no member of the " + kind_text(line));
  return failure(exit_code::not_found, printable(node) + " does not stand in line at " + printable(line.path));
}

failure no_such_id(const waiting_line& line, const std::string& id) {
  const auto unread =
      std::count_if(line.places.begin(), line.places.end(), [](const auto& p) { return !p.is_readable; });
  auto text = "nobody in line at " + line.path + " has the id " + id;
  if (unread > 0) text += ", as far as the members may be read: " + std::to_string(unread) + " may not";
  return failure(exit_code::error, printable(text));
}

failure too_many(const waiting_line& line, const std::vector<std::size_t>& found, const std::string& id) {
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), most_of_an_id); ++i)
    append_to_list(names, line.places[found[i]].node);
  if (found.size() > most_of_an_id) names += ", ...";
  return nothing_was_sent(std::to_string(found.size()) + " members have the id " + id +
                          "; name the node of one: " + names);
}

}  // namespace

const std::string& label(const line_place& who) noexcept { return who.id.empty() ? who.node : who.id; }

std::string kind_text(const waiting_line& line) {
  recipe_status named;
  named.kinds = line.kinds;
  return kind_text(named);
}

bool is_election(const waiting_line& line) noexcept {
  return line.kinds.size() == 1 && has_kind(line, recipe::election);
}

std::optional<transaction> conditions_of_waiting(const waiting_line& line, std::size_t which) {
  if (first_kind(line) == recipe::semaphore) return conditions_of_permits(line, which);
  const bool has_readers = first_kind(line) == recipe::read_write_lock;
  for (std::size_t i = 0; i < which; ++i) {
    const auto& ahead = line.places[i];
    if (!ahead.is_readable || (has_readers && !keeps_waiting(ahead, line.places[which]))) continue;
    // A writer that becomes a reader writes that into its node.
    return transaction().check(ahead.path, has_readers ? ahead.stat.version : zkrecipes::any_version);
  }
  return std::nullopt;
}

asio::awaitable<waiting_line> read_waiting_line(zkrecipes::session session, std::string path, recipe_query query,
                                                deadline limit) {
  auto line = co_await recognize(session, path, std::move(query), limit);
  const auto markers = markers_of(line);
  auto seen = co_await read_node_line(session, path, markers, std::numeric_limits<std::size_t>::max());
  if (seen.error == zkrecipes::errc::no_node) throw failure(exit_code::error, "there is no node " + printable(path));
  zkadmin::check(seen.error, "reading " + path);
  fill(line, std::move(seen.status));
  co_return line;
}

std::size_t find_place(const waiting_line& line, const std::string& node, const std::string& id) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < line.places.size(); ++i) {
    const auto& each = line.places[i];
    if (node.empty() ? each.is_readable && each.id == id : each.node == node) found.push_back(i);
  }
  if (found.size() > 1) throw too_many(line, found, id);
  if (found.empty()) throw node.empty() ? no_such_id(line, id) : no_such_node(line, node);
  return found.front();
}

namespace {

failure is_holder(const waiting_line& line, const line_place& who) {
  if (is_election(line))
    return nothing_was_sent(label(who) + " is first in line at " + line.path +
                            ", and leads or is about to; ask it with `zkadmin " +
                            "resign`, or end its place with --force");
  return nothing_was_sent(label(who) + " holds " + line.path +
                          "; ask it with `zkadmin revoke`, or end its place with --force");
}

failure is_unknown(const waiting_line& line, const line_place& who) {
  return nothing_was_sent("it is not known for certain that " + label(who) + " waits at " + line.path +
                          ": what would tell can not be read, or is changing; --force ends its place all the same");
}

}  // namespace

intervention eviction_of(const waiting_line& line, std::size_t which, bool force) {
  const auto& who = line.places.at(which);
  if (!force && who.role == place_role::holder) throw is_holder(line, who);
  auto conditions = force ? zkrecipes::transaction() : conditions_of_waiting(line, which);
  if (!conditions || (!force && who.role == place_role::unknown)) throw is_unknown(line, who);
  intervention change;
  change.requests = std::move(*conditions);
  change.requests.remove(who.path, who.stat.version);
  change.same = {{who.path, who.stat.czxid}};
  const bool waits = who.role == place_role::waiter;
  change.done =
      (waits ? "took " + label(who) + " out of the line at " : "ended the place of " + label(who) + " at ") + line.path;
  change.if_gone = "the line has just moved on: nothing was deleted, look again";
  change.if_changed = "a node in line has just been written: nothing was deleted, look again";
  if (force) change.to_confirm = who.path;
  return change;
}

asio::awaitable<intervention> prepare_eviction(zkrecipes::session session, std::string path, recipe_query query,
                                               eviction_choice choice, deadline limit) {
  const auto line = co_await read_waiting_line(std::move(session), std::move(path), std::move(query), limit);
  co_return eviction_of(line, find_place(line, choice.node, choice.id), choice.force);
}

}  // namespace zkadmin
