#include "change/intervention.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/acl_text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {

// What can be seen of requests whose answer was lost.

/// Looks at the nodes that the requests were to change, and tells what it sees: "/a has gone since", "/a holds what was
/// to be written", "/a is as it was". It does not tell who has changed them. Throws nothing.
boost::asio::awaitable<std::string> what_came_of(zkrecipes::session session, zkrecipes::transaction requests);

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using operation_kind = zkrecipes::operation::kind;

/// The servers put a number behind the name, so the node that was made can not be told from others. The other requests
/// of the transaction tell what came of it.
bool has_unknown_name(const zkrecipes::operation& request) {
  using mode = zkrecipes::create_mode;
  const bool is_numbered = request.mode == mode::persistent_sequential || request.mode == mode::ephemeral_sequential;
  return request.type == operation_kind::create && is_numbered;
}

std::string seen_of(const zkrecipes::operation& request, const zkrecipes::error_code& error,
                    const zkrecipes::node_data& node) {
  const auto& path = request.path;
  if (error == errc::no_node)
    return path + (request.type == operation_kind::remove ? " has gone since" : " is not there");
  if (error) return "what came of it is not known";
  if (request.type == operation_kind::create) return path + " is there";
  const bool is_written = request.type == operation_kind::set && node.data == request.data;
  if (is_written) return path + " holds what was to be written";
  const bool is_as_before = node.stat.version == request.version;
  return path + (is_as_before ? " is as it was" : " has been written by another");
}

}  // namespace

asio::awaitable<std::string> what_came_of(zkrecipes::session session, zkrecipes::transaction requests) {
  // The server that is asked now may be behind the one that was asked before.
  const auto present = co_await session.async_sync(as_result);
  if (std::get<0>(present)) co_return "what came of it is not known";
  std::string text;
  for (const auto& each : requests.operations()) {
    if (each.type == operation_kind::check || has_unknown_name(each)) continue;
    auto looked = co_await session.async_get(each.path, as_result);
    if (!text.empty()) text += ", ";
    text += seen_of(each, std::get<0>(looked), std::get<1>(looked));
  }
  co_return text;
}

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

constexpr std::size_t longest_shown = 1000;  // Bytes of data; recipes write less.

const char* word_of(operation_kind type) {
  switch (type) {
    case operation_kind::create: return "create";
    case operation_kind::remove: return "delete";
    case operation_kind::set: return "set";
    case operation_kind::check: return "check";
  }
  return "?";
}

std::string request_line(const zkrecipes::operation& request) {
  const bool has_data = request.type == operation_kind::create || request.type == operation_kind::set;
  std::string text = std::string(word_of(request.type)) + " " + printable(request.path);
  if (has_unknown_name(request)) text += "N";
  const bool has_version = request.type != operation_kind::create && request.version != zkrecipes::any_version;
  if (has_version) text += " version=" + std::to_string(request.version);
  if (!request.acl.empty()) text += " acl=" + printable(zkadmin::to_text(request.acl));
  if (has_data) text += " data=" + printable(shortened(request.data, longest_shown));
  return text + "\n";
}

}  // namespace

failure nothing_was_sent(const std::string& why) {
  return failure(exit_code::error, printable(why) + ": nothing was sent");
}

std::string to_text(const zkrecipes::transaction& requests) {
  std::string text;
  for (const auto& each : requests.operations()) text += request_line(each);
  return text;
}

asio::awaitable<void> send(zkrecipes::session session, intervention wanted) {
  const auto identity = co_await look_again(session, wanted.same);
  if (identity == node_identity::gone) throw failure(exit_code::error, wanted.if_gone);
  if (identity == node_identity::other) throw failure(exit_code::error, wanted.if_changed);
  const auto requests = wanted.requests;
  auto outcome = co_await session.async_commit(std::move(wanted.requests), as_result);
  const auto error = std::get<0>(outcome);
  if (error == errc::connection_loss || error == errc::session_expired) {
    const auto seen = co_await what_came_of(session, requests);
    throw failure(exit_code::error, "sending the request: " + error.message() + "; " + printable(seen));
  }
  const bool is_changed = error == errc::bad_version || error == errc::node_exists;
  if (error == errc::no_node) throw failure(exit_code::error, wanted.if_gone);
  if (is_changed) throw failure(exit_code::error, wanted.if_changed);
  check(error, "sending the request");
}

asio::awaitable<std::optional<intervention>> prepare_removal(zkrecipes::session session, seen_node node,
                                                             std::string owner) {
  const auto seen = co_await find_stat(session, node.path);
  if (!seen || seen->czxid != node.czxid) co_return std::nullopt;
  intervention removal;
  removal.requests.remove(node.path, seen->version);
  const auto name = printable(owner);
  removal.if_gone = name + " has just left: nothing was deleted";
  removal.if_changed = "the node of " + name + " has just been written: nothing was deleted, try again";
  co_return removal;
}

namespace {

namespace asio = boost::asio;

asio::awaitable<node_identity> identity_of(zkrecipes::session session, seen_node node) {
  const auto seen = co_await find_stat(std::move(session), node.path);
  if (!seen) co_return node_identity::gone;
  co_return seen->czxid == node.czxid ? node_identity::same : node_identity::other;
}

}  // namespace

asio::awaitable<node_identity> look_again(zkrecipes::session session, std::vector<seen_node> nodes) {
  std::vector<node_identity> found(nodes.size(), node_identity::same);
  const auto look = [&](std::size_t i) -> asio::awaitable<void> {
    const auto identity = co_await identity_of(session, nodes[i]);
    found[i] = identity;
  };
  co_await for_each_index(nodes.size(), requests_at_a_time, look);
  const auto first = std::find_if(found.begin(), found.end(), [](auto each) { return each != node_identity::same; });
  co_return first == found.end() ? node_identity::same : *first;
}

namespace {

namespace asio = boost::asio;

/// ZooKeeper writes "user:x" in place of the hash.
bool is_hidden(const zkrecipes::acl_entry& each) { return each.scheme == "digest" && each.id.ends_with(":x"); }

/// Nothing: there is no such node.
asio::awaitable<std::optional<zkrecipes::acl>> find_inherited_acl(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get_acl(path, as_result);
  if (std::get<0>(reading) == zkrecipes::errc::no_node) co_return std::nullopt;
  check(std::get<0>(reading), "reading the ACL of " + path);
  auto access = std::move(std::get<1>(reading));
  if (std::any_of(access.begin(), access.end(), is_hidden))
    throw failure(exit_code::auth, "the ACL of " + printable(path) +
                                       " is hidden from these credentials, which lack the right `admin`, so what is "
                                       "made below it could not have it: nothing was sent");
  if (access == zkrecipes::open_acl()) access.clear();
  co_return access;
}

}  // namespace

asio::awaitable<zkrecipes::acl> inherited_acl(zkrecipes::session session, std::string path) {
  auto access = co_await find_inherited_acl(std::move(session), path);
  if (!access) check(make_error_code(zkrecipes::errc::no_node), "reading the ACL of " + path);
  co_return std::move(*access);
}

asio::awaitable<zkrecipes::acl> nearest_acl(zkrecipes::session session, std::string path) {
  for (;;) {
    auto access = co_await find_inherited_acl(session, path);
    if (access) co_return std::move(*access);
    if (path == "/") co_return zkrecipes::acl();  // the root of `hosts` is missing
    path = parent_of(path);
  }
}

}  // namespace zkadmin
