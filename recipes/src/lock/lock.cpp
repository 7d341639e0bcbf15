#include <utility>

#include <zkrecipes/lock.hpp>

#include "line/turn.hpp"
#include "lock/lock_line.hpp"
#include "session/deadline.hpp"

namespace zkrecipes {

namespace detail {

using backend::opcode;

namespace {
// The names in Curator's mutex, and in both generations of kazoo's lock.
constexpr std::string_view markers[] = {"lock-", "__lock__"};
}  // namespace

line_spec lock_line(std::string path) {
  line_spec line{std::move(path), "lock-", markers};
  line.one_by_one = true;
  return line;
}

awaitable<outcome<ownership>> acquire_lock(core_ptr session, std::string path, line_options options) {
  return own_turn(std::move(session), lock_line(std::move(path)), revocable_data(options.id), &nearest_ahead,
                  std::move(options.on_position));
}

awaitable<outcome<ownership>> try_acquire_lock(core_ptr session, std::string path, line_options options) {
  auto list = make_request(opcode::children, path);
  auto listed = co_await session->perform(std::move(list), retry::always);
  if (listed.error && listed.error != errc::no_node) co_return outcome<ownership>(listed.error, ownership());
  if (!members_of(listed.children, markers).empty()) co_return outcome<ownership>(errc::busy, ownership());
  auto entered = co_await place::enter(std::move(session), lock_line(std::move(path)), revocable_data(options.id));
  auto& [error, where] = entered;
  if (error) co_return outcome<ownership>(error, ownership());
  ownership held(where);
  auto first = co_await where->try_turn(&nearest_ahead);
  if (first) co_return outcome<ownership>(first, ownership());  // somebody was quicker: `held` removes our node
  co_return outcome<ownership>(error_code(), std::move(held));
}

}  // namespace detail

using namespace detail;

lock::lock(session over, std::string path, line_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_path("lock path", path_);
  require_id("line_options::id", options_.id);
}

void lock::start_acquire(owner_handler h, core_ptr core, std::string path, line_options options,
                         lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto turn = acquire_lock(core, std::move(path), std::move(options));
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(turn)));
}

void lock::start_try_acquire(owner_handler h, core_ptr core, std::string path, line_options options) {
  launch(*core->get_scheduler(), std::move(h), try_acquire_lock(core, std::move(path), std::move(options)));
}

void lock::start_members(handler_for<void(error_code, std::vector<line_member>)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), read_line(core, lock_line(std::move(path)), &nearest_ahead));
}

void lock::start_request_revocation(handler_for<void(error_code)> h, core_ptr core, std::string path,
                                    std::chrono::milliseconds grace) {
  launch(*core->get_scheduler(), std::move(h), request_revocation(core, lock_line(std::move(path)), grace));
}

}  // namespace zkrecipes
