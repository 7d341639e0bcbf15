#include "cluster/resignation.hpp"

#include <optional>
#include <tuple>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/election_reader.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

/// The leader at `path`. If there is none that can be asked, throws `failure` with the reason.
asio::awaitable<candidate_status> leader_at(zkrecipes::session session, std::string path) {
  const auto seen = co_await view_election(session, path);
  if (!seen) throw failure(exit_code::error, "there is no election at " + path);
  if (seen->phase == refused_phase) check(errc::no_auth, "reading " + path);
  if (seen->phase == foreign_phase) throw failure(exit_code::error, path + " holds data that is not an election's");
  if (!seen->leader) throw failure(exit_code::error, "nobody leads at " + path);
  if (const auto& asked = seen->resignation_asked)
    throw failure(exit_code::error, printable(label(*seen->leader)) + " was asked to give up " + path + " " +
                                        short_duration(*asked) + " ago, and is still there: nothing was sent");
  co_return *seen->leader;
}

}  // namespace

asio::awaitable<intervention> prepare_resignation(zkrecipes::session session, std::string path) {
  const auto leader = co_await leader_at(session, path);
  zkrecipes::election election(session, path, {.id = "zkadmin"});
  auto request = co_await election.async_resignation_request(as_result);
  const auto error = std::get<0>(request);
  const auto& operations = std::get<1>(request).operations();
  if (error == errc::foreign_data)
    throw failure(exit_code::error, printable(label(leader)) +
                                        " is no client of zkrecipes: it does not listen to such a "
                                        "request, and its data is not ours to change");
  const bool is_same = !error && !operations.empty() && operations.front().path.ends_with("/" + leader.node);
  if (error == errc::no_node || (!error && !is_same))
    throw failure(exit_code::error, "the leader has just changed: try again");
  check(error, "reading " + path);
  intervention asked;
  asked.requests = std::move(std::get<1>(request));
  asked.done = "asked " + label(leader) + " to give up " + path;
  asked.if_gone = "the leader has just given up: nothing was written";
  asked.if_changed = "the leader's node has just been written: nothing was done, try again";
  co_return asked;
}

}  // namespace zkadmin
