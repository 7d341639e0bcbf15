#include "change/revocation.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "line/line_spec.hpp"

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

}  // namespace zkadmin
