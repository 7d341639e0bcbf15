#include "cluster/resignation.hpp"

#include "cluster/collector.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <optional>
#include <tuple>

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using zkrecipes::errc;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// As election::async_request_resignation writes it (a test compares the two). That one reads and writes in
// one go, so what it is about to send cannot be shown before, and a leader that was elected in between would
// be asked instead.
std::string with_request(const std::string& data) {
  json::error_code error;
  auto value = json::parse(data, error);
  json::object object;
  if (!error && value.is_object()) {
    object = std::move(value.get_object());
  } else {
    object["id"] = data;
  }
  object["revoke"] = true;
  return json::serialize(object);
}

}  // namespace

std::string to_text(const resignation_request& request) {
  return "set " + printable(request.node) + " version=" + std::to_string(request.version) +
         " data=" + printable(request.data);
}

asio::awaitable<resignation_request> prepare_resignation(zkrecipes::session session, std::string path) {
  const auto seen = co_await view_election(session, path);
  if (!seen) throw failure(exit_code::error, "there is no election at " + path);
  if (seen->phase == foreign_phase)
    throw failure(exit_code::error, path + " holds data that is not an election's");
  if (seen->phase == refused_phase) check(errc::no_auth, "reading " + path);
  if (!seen->leader) throw failure(exit_code::error, "nobody leads at " + path);
  resignation_request request;
  request.leader = seen->leader->id;
  request.node = (path == "/" ? "" : path) + "/" + seen->leader->node;
  auto reading = co_await session.async_get(request.node, as_result);
  if (std::get<0>(reading) == errc::no_node) throw failure(exit_code::error, "the leader has just given up");
  check(std::get<0>(reading), "reading " + request.node);
  const auto& node = std::get<1>(reading);
  request.version = node.stat.version;
  request.data = with_request(node.data);
  co_return request;
}

asio::awaitable<void> send(zkrecipes::session session, resignation_request request) {
  auto outcome = co_await session.async_set(request.node, request.data, request.version, as_result);
  const auto error = std::get<0>(outcome);
  if (error == errc::no_node)
    throw failure(exit_code::error, "the leader has just given up: nothing was written");
  if (error == errc::bad_version)
    throw failure(exit_code::error, "the leader's node has just been written: nothing was done, try again");
  check(error, "writing " + request.node);
}

}  // namespace zkadmin
