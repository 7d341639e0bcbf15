#include "cluster/resignation.hpp"

#include <optional>
#include <tuple>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

constexpr std::size_t longest_shown = 1000;  // Bytes of data; candidates of zkrecipes write less.

const char* name_of(zkrecipes::operation::kind type) {
  switch (type) {
    case zkrecipes::operation::kind::create: return "create";
    case zkrecipes::operation::kind::remove: return "delete";
    case zkrecipes::operation::kind::set: return "set";
    case zkrecipes::operation::kind::check: return "check";
  }
  return "?";
}

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

std::string to_text(const zkrecipes::transaction& requests) {
  std::string text;
  for (const auto& each : requests.operations()) {
    text += std::string(name_of(each.type)) + " " + printable(each.path) + " version=" + std::to_string(each.version);
    text += " data=" + printable(shortened(each.data, longest_shown)) + "\n";
  }
  return text;
}

asio::awaitable<resignation> prepare_resignation(zkrecipes::session session, std::string path) {
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
  co_return resignation{label(leader), std::move(std::get<1>(request))};
}

asio::awaitable<void> send(zkrecipes::session session, zkrecipes::transaction requests) {
  auto outcome = co_await session.async_commit(std::move(requests), as_result);
  const auto error = std::get<0>(outcome);
  if (error == errc::no_node) throw failure(exit_code::error, "the leader has just given up: nothing was written");
  if (error == errc::bad_version)
    throw failure(exit_code::error, "the leader's node has just been written: nothing was done, try again");
  check(error, "sending the request");
}

}  // namespace zkadmin
