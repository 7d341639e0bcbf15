#include "cluster/resignation.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/election_reader.hpp"
#include "cluster/node_path.hpp"
#include "failure.hpp"
#include "text.hpp"

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

}  // namespace

asio::awaitable<resignation> find_resignation(zkrecipes::session session, std::string path) {
  auto seen = co_await led_election(session, path);
  resignation found{std::move(*seen.leader), seen.epoch, seen.resignation_asked};
  if (found.asked_before) co_return found;
  zkrecipes::election election(session, path, {.id = "zkadmin"});
  auto prepared = co_await election.async_resignation_request(as_result);
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

}  // namespace zkadmin
