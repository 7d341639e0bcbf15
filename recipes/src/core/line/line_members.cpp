#include "line/line_members.hpp"

#include <utility>

#include "line/member_data.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Also who has just been let in through another server than ours.
awaitable<outcome<std::vector<member>>> list_latest(core_ptr session, line_spec line) {
  std::vector<backend::request> look{make_request(opcode::children, line.parent)};
  auto answered = co_await perform_latest(std::move(session), std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  if (!error && replies[0].error != errc::no_node) error = replies[0].error;
  if (error) co_return failed<std::vector<member>>(error);
  co_return outcome<std::vector<member>>(error_code(), members_of(replies[0].children, line.accepted));
}

}  // namespace

awaitable<outcome<std::vector<member>>> list_members(core_ptr session, line_spec line) {
  auto look = make_request(opcode::children, line.parent);
  auto listed = co_await session->perform(std::move(look), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  co_return outcome<std::vector<member>>(listed.error, members_of(listed.children, line.accepted));
}

awaitable<outcome<>> let_pass(core_ptr session, std::string node, std::optional<std::string> data,
                              incarnation_ptr bound) {
  std::int32_t version = 0;  // of a node that nobody has written to yet
  for (;;) {
    if (!data) {
      auto look = make_request(opcode::get, node);
      auto seen = co_await session->perform(std::move(look), retry::always, bound);
      if (seen.error || is_shared(seen.data)) co_return outcome<>(seen.error);
      data = std::move(seen.data);
      version = seen.stat.version;
    }
    auto set = make_request(opcode::set, node);
    set.data = with_shared(*data);
    set.version = version;
    auto done = co_await session->perform(std::move(set), retry::always, bound);
    if (done.error != errc::bad_version) co_return outcome<>(done.error);
    data.reset();
  }
}

awaitable<outcome<std::vector<line_member>>> read_line(core_ptr session, line_spec line, blocker who_first) {
  std::vector<line_member> found;
  auto listed = co_await list_members(session, line);
  auto& [error, members] = listed;
  if (error) co_return outcome<std::vector<line_member>>(error, std::move(found));
  std::vector<backend::request> looks;
  for (const auto& each : members) looks.push_back(make_request(opcode::get, join(line.parent, each.name)));
  const auto nodes = co_await session->perform_all(std::move(looks));
  for (std::size_t i = 0; i < nodes.size() && !error; ++i) {
    if (nodes[i].error == errc::no_node) continue;  // left meanwhile
    error = nodes[i].error;
    found.push_back({member_id(nodes[i].data), members[i].name, nodes[i].stat.czxid, nodes[i].stat.ephemeral_owner,
                     static_cast<std::int32_t>(found.size()), !who_first(members, i)});
  }
  if (error) found.clear();
  co_return outcome<std::vector<line_member>>(error, std::move(found));
}

awaitable<outcome<>> request_revocation(core_ptr session, line_spec line, std::chrono::milliseconds grace) {
  if (grace < std::chrono::milliseconds(0)) co_return outcome<>(errc::bad_arguments);
  auto listed = co_await list_latest(session, line);
  auto& [error, members] = listed;
  if (!error && members.empty()) error = errc::no_node;
  if (error) co_return outcome<>(error);
  const auto path = join(line.parent, members.front().name);
  auto look = make_request(opcode::get, path);
  auto node = co_await session->perform(std::move(look), retry::always);
  if (node.error) co_return outcome<>(node.error);
  if (!is_revocable(node.data)) co_return outcome<>(errc::foreign_data);
  auto ask = make_request(opcode::set, path);
  ask.data = with_revocation(node.data, grace);
  ask.version = node.stat.version;
  auto asked = co_await session->perform(std::move(ask), retry::once);
  co_return outcome<>(asked.error);
}

}  // namespace zkrecipes::detail
