#include "cluster/eviction.hpp"

#include <utility>

#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

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
