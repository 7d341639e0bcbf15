#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <zkrecipes/read_write_lock.hpp>

#include "line/line_spec.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes {

using namespace detail;
using backend::opcode;

namespace {

// The names that Curator and kazoo use.
constexpr std::string_view readers[] = {"__READ__", "__rlock__"};
constexpr std::string_view writers[] = {"__WRIT__", "__lock__"};
constexpr std::string_view everybody[] = {readers[0], readers[1], writers[0], writers[1]};

/// `who` is in a list of everybody.
bool writes(const member& who) { return who.marker >= std::size(readers); }

line_spec read_line_of(std::string path) {
  line_spec line{std::move(path), "__READ__", everybody};
  line.lets_pass = &is_shared;
  return line;
}

line_spec write_line_of(std::string path) {
  line_spec line{std::move(path), "__WRIT__", everybody};
  line.one_by_one = true;
  return line;
}

/// For a reader: the nearest writer ahead that does not let others pass. (A writer waits for the nearest member ahead.)
std::optional<std::size_t> writer_ahead(std::span<const member> members, std::size_t self) {
  while (self-- > 0) {
    if (!writes(members[self])) {
      self -= std::min(self, members[self].alike);  // readers in a row
    } else if (!members[self].lets_pass) {
      return self;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> who_blocks(std::span<const member> members, std::size_t self) {
  return writes(members[self]) ? nearest_ahead(members, self) : writer_ahead(members, self);
}

/// Whether `node` is a reader or writer (`kind`) in the line of the lock at `path`.
bool holds(const std::string& path, const std::string& node, std::span<const std::string_view> kind) {
  return parent_of(node) == path && parse_sequence(name_of(node), kind);
}

/// A writer that is the only one in line may have turned its hold into a shared one. It says so in its node.
awaitable<outcome<ownership>> try_read(core_ptr session, std::string path, std::string id) {
  auto listed = co_await list_members(session, read_line_of(path));
  auto& [error, members] = listed;
  std::erase_if(members, [](const member& each) { return !writes(each); });
  if (!error && members.size() > 1) error = errc::busy;
  if (error) co_return failed<ownership>(error);
  std::string passed;
  if (!members.empty()) {
    passed = members.front().name;
    auto look = make_request(opcode::get, join(path, passed));
    const auto seen = co_await session->perform(std::move(look), retry::always);
    if (seen.error && seen.error != errc::no_node) co_return failed<ownership>(seen.error);
    if (!seen.error && !is_shared(seen.data)) co_return failed<ownership>(errc::busy);
  }
  const blocker other_writer = [passed](std::span<const member> all, std::size_t self) {
    auto ahead = writer_ahead(all, self);
    while (ahead && all[*ahead].name == passed) ahead = writer_ahead(all, *ahead);
    return ahead;
  };
  auto trying = try_to_own(std::move(session), read_line_of(std::move(path)), revocable_data(id), other_writer);
  co_return co_await std::move(trying);
}

awaitable<outcome<>> downgrade(core_ptr session, std::string path, own_node_ptr write) {
  if (!write || !holds(path, write->path(), writers)) co_return outcome<>(errc::bad_arguments);
  co_return co_await let_pass(std::move(session), write->path(), write->content().data, write->bound());
}

/// A read lock that was lost is not upgraded, even if its node still exists, because a deposed leader may have ended
/// the session.
awaitable<outcome<ownership>> try_upgrade(core_ptr session, std::string path, line_options options, own_node_ptr read) {
  if (!read || !holds(path, read->path(), readers)) co_return failed<ownership>(errc::bad_arguments);
  const std::string own = read->name();
  auto list = make_request(opcode::children, path);
  auto listed = co_await session->perform(std::move(list), retry::always, read->bound());
  if (listed.error) co_return failed<ownership>(listed.error);
  const auto members = members_of(listed.children, everybody);
  const bool there =
      !read->lost() && std::any_of(members.begin(), members.end(), [&](const member& m) { return m.name == own; });
  if (!there || members.size() > 1) co_return failed<ownership>(there ? errc::busy : errc::no_node);
  const blocker nobody_but_us = [own](std::span<const member> all, std::size_t self) {
    auto ahead = nearest_ahead(all, self);
    return ahead && self == 1 && all[0].name == own ? std::nullopt : ahead;
  };
  auto trying = try_to_own(std::move(session), write_line_of(std::move(path)), revocable_data(options.id),
                           nobody_but_us, read->bound());
  co_return co_await std::move(trying);
}

}  // namespace

read_write_lock::read_write_lock(session over, std::string path, line_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("read-write lock path", path_);
  require_id("line_options::id", options_.id);
}

void read_write_lock::start_acquire(owner_handler h, core_ptr core, std::string path, line_options options, mode how,
                                    lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  const bool reads = how == mode::read;
  auto line = reads ? read_line_of(std::move(path)) : write_line_of(std::move(path));
  blocker who_first = reads ? &writer_ahead : &nearest_ahead;
  auto turn = own_in_turn(core, std::move(line), revocable_data(options.id), std::move(who_first),
                          std::move(options.on_position));
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(turn)));
}

void read_write_lock::start_try_acquire(owner_handler h, core_ptr core, std::string path, line_options options,
                                        mode how) {
  auto trying = how == mode::read ? try_read(core, std::move(path), std::move(options.id))
                                  : own_if_free(core, write_line_of(std::move(path)), revocable_data(options.id));
  launch(*core->get_scheduler(), std::move(h), std::move(trying));
}

void read_write_lock::start_downgrade(handler_for<void(error_code)> h, core_ptr core, std::string path,
                                      own_node_ptr write) {
  launch(*core->get_scheduler(), std::move(h), downgrade(core, std::move(path), std::move(write)));
}

void read_write_lock::start_try_upgrade(owner_handler h, core_ptr core, std::string path, line_options options,
                                        own_node_ptr read) {
  launch(*core->get_scheduler(), std::move(h), try_upgrade(core, std::move(path), std::move(options), std::move(read)));
}

void read_write_lock::start_members(handler_for<void(error_code, std::vector<line_member>)> h, core_ptr core,
                                    std::string path) {
  launch(*core->get_scheduler(), std::move(h), read_line(core, read_line_of(std::move(path)), &who_blocks));
}

}  // namespace zkrecipes
