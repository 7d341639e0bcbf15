// A session as its users hold it.
#include <utility>

#include <zkrecipes/session.hpp>

#include "backend/wiped_credentials.hpp"
#include "backend/zookeeper/real_world.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"

namespace zkrecipes {

// The operations of a session: a coroutine for each, and how it begins.

using namespace detail;
using backend::opcode;

namespace {

// The coroutines take the session by value, which keeps it open.

awaitable<outcome<session_status>> wait_status_change(core_ptr core, std::uint64_t seen) {
  while (core->status().changes <= seen) {
    if (auto over = core->ended()) co_return outcome<session_status>(over, core->status());
    auto why = co_await core->changed().wait();
    if (why == wake::cancelled) co_return outcome<session_status>(asio::error::operation_aborted, core->status());
  }
  co_return outcome<session_status>(error_code(), core->status());
}

awaitable<outcome<>> wait_connected(core_ptr core, lease_clock::time_point deadline) {
  const incarnation_ptr any;
  auto error = co_await core->wait_connected(any, deadline);
  co_return outcome<>(error);
}

awaitable<outcome<>> no_result(core_ptr core, backend::request what, retry policy) {
  auto result = co_await core->perform(std::move(what), policy);
  co_return outcome<>(result.error);
}

awaitable<outcome<created_node>> create(core_ptr core, backend::request what) {
  auto result = co_await core->perform(std::move(what), retry::once);
  co_return outcome<created_node>(result.error, created_node{std::move(result.path), result.stat});
}

awaitable<outcome<created_node>> create_below_parents(core_ptr core, backend::request what) {
  auto result = co_await create_with_parents(core, std::move(what));
  co_return outcome<created_node>(result.error, created_node{std::move(result.path), result.stat});
}

awaitable<outcome<>> ensure_path(core_ptr core, std::string path) {
  if (!path_problem(path).empty()) co_return outcome<>(errc::bad_arguments);
  co_return outcome<>(co_await core->ensure_path(std::move(path)));
}

awaitable<outcome<node_data>> get(core_ptr core, std::string path) {
  auto result = co_await core->perform(make_request(opcode::get, std::move(path)), retry::always);
  co_return outcome<node_data>(result.error, node_data{std::move(result.data), result.stat});
}

awaitable<outcome<node_stat>> stat_of(core_ptr core, backend::request what, retry policy) {
  auto result = co_await core->perform(std::move(what), policy);
  co_return outcome<node_stat>(result.error, result.stat);
}

awaitable<outcome<node_children>> children(core_ptr core, std::string path) {
  auto result = co_await core->perform(make_request(opcode::children, std::move(path)), retry::always);
  co_return outcome<node_children>(result.error, node_children{std::move(result.children), result.stat});
}

awaitable<outcome<std::vector<operation_result>>> commit(core_ptr core, transaction operations) {
  using result_type = outcome<std::vector<operation_result>>;
  if (operations.empty()) co_return result_type(core->over(), {});
  auto what = backend::make_multi(operations);
  auto result = co_await core->perform(std::move(what), retry::once);
  co_return result_type(result.error, std::move(result.results));
}

awaitable<outcome<acl>> get_acl(core_ptr core, std::string path) {
  auto result = co_await core->perform(make_request(opcode::get_acl, std::move(path)), retry::always);
  co_return outcome<acl>(result.error, std::move(result.access));
}

awaitable<outcome<>> add_credentials(core_ptr core, session_operations::secret_ptr added) {
  const auto error = co_await core->add_credentials(std::move(added));
  co_return outcome<>(error);
}

awaitable<outcome<node_data>> wait_data_change(core_ptr core, std::string path, std::int64_t seen) {
  condition fired(core->get_scheduler());
  for (;;) {
    auto hint = core->arm(watch_kind::data, path, fired);
    auto what = make_request(opcode::exists, path, true);
    auto there = co_await core->perform(what, retry::always);
    const bool missing = there.error == errc::no_node;
    if (there.error && !missing) co_return outcome<node_data>(there.error, node_data{});
    if (missing && seen != 0) co_return outcome<node_data>(there.error, node_data{});
    if (!missing && there.stat.mzxid != seen) {
      auto result = co_await get(core, path);
      // `no_node`: the node was deleted after `exists`. That is the change, unless the caller knows it as missing
      // (`seen` 0).
      if (std::get<0>(result) != errc::no_node || seen != 0) co_return result;
      continue;
    }
    while (!hint->fired()) {
      auto why = co_await fired.wait();
      if (why == wake::cancelled) co_return outcome<node_data>(asio::error::operation_aborted, node_data{});
    }
  }
}

awaitable<outcome<node_children>> wait_children_change(core_ptr core, std::string path, std::int64_t seen) {
  condition fired(core->get_scheduler());
  for (;;) {
    auto hint = core->arm(watch_kind::children, path, fired);
    auto what = make_request(opcode::children, path, true);
    auto result = co_await core->perform(what, retry::always);
    if (result.error || result.stat.pzxid != seen) {
      co_return outcome<node_children>(result.error, node_children{std::move(result.children), result.stat});
    }
    while (!hint->fired()) {
      auto why = co_await fired.wait();
      if (why == wake::cancelled) co_return outcome<node_children>(asio::error::operation_aborted, node_children{});
    }
  }
}

awaitable<outcome<>> close(core_ptr core) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await core->close();
  co_return outcome<>(error_code());
}

awaitable<outcome<>> close_by(core_ptr core, lease_clock::time_point deadline, diagnostic why) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto error = co_await core->close_by(deadline, std::move(why));
  co_return outcome<>(error);
}

}  // namespace

void session_operations::start_status_change(handler<session_status> h, core_ptr core, std::uint64_t seen) {
  launch(*core->get_scheduler(), std::move(h), wait_status_change(core, seen), persistence::endless);
}

void session_operations::start_connected_for(handler<> h, core_ptr core, time_budget budget) {
  const auto deadline = core->get_scheduler()->deadline_of(budget);
  launch(*core->get_scheduler(), std::move(h), wait_connected(core, deadline), persistence::endless);
}

void session_operations::start_create(handler<created_node> h, core_ptr core, std::string path, std::string data,
                                      create_mode mode, acl access) {
  auto what = make_request(opcode::create, std::move(path));
  what.data = std::move(data);
  what.mode = mode;
  what.access = std::move(access);
  launch(*core->get_scheduler(), std::move(h), create(core, std::move(what)));
}

void session_operations::start_create_with_parents(handler<created_node> h, core_ptr core, std::string path,
                                                   std::string data, create_mode mode) {
  auto what = make_request(opcode::create, std::move(path));
  what.data = std::move(data);
  what.mode = mode;
  launch(*core->get_scheduler(), std::move(h), create_below_parents(core, std::move(what)));
}

void session_operations::start_ensure_path(handler<> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), ensure_path(core, std::move(path)));
}

void session_operations::start_remove(handler<> h, core_ptr core, std::string path, std::int32_t version) {
  auto what = make_request(opcode::remove, std::move(path));
  what.version = version;
  launch(*core->get_scheduler(), std::move(h), no_result(core, std::move(what), retry::once));
}

void session_operations::start_remove_with_children(handler<std::size_t> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), remove_with_children(core, std::move(path)));
}

void session_operations::start_get(handler<node_data> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), get(core, std::move(path)));
}

void session_operations::start_set(handler<node_stat> h, core_ptr core, std::string path, std::string data,
                                   std::int32_t version) {
  auto what = make_request(opcode::set, std::move(path));
  what.data = std::move(data);
  what.version = version;
  launch(*core->get_scheduler(), std::move(h), stat_of(core, std::move(what), retry::once));
}

void session_operations::start_exists(handler<node_stat> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h),
         stat_of(core, make_request(opcode::exists, std::move(path)), retry::always));
}

void session_operations::start_children(handler<node_children> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), children(core, std::move(path)));
}

void session_operations::start_commit(handler<std::vector<operation_result>> h, core_ptr core, transaction operations) {
  launch(*core->get_scheduler(), std::move(h), commit(core, std::move(operations)));
}

void session_operations::start_sync(handler<> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), no_result(core, make_request(opcode::sync, "/"), retry::always));
}

void session_operations::start_get_acl(handler<acl> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), get_acl(core, std::move(path)));
}

void session_operations::start_set_acl(handler<> h, core_ptr core, std::string path, acl access,
                                       std::int32_t acl_version) {
  auto what = make_request(opcode::set_acl, std::move(path));
  what.access = std::move(access);
  what.version = acl_version;
  launch(*core->get_scheduler(), std::move(h), no_result(core, std::move(what), retry::once));
}

void session_operations::start_add_credentials(handler<> h, core_ptr core, secret_ptr added) {
  launch(*core->get_scheduler(), std::move(h), add_credentials(core, std::move(added)));
}

session_operations::secret_ptr session_operations::hold(credentials& given) { return backend::hold_secret(given); }

void session_operations::start_data_change(handler<node_data> h, core_ptr core, std::string path,
                                           std::int64_t seen_mzxid) {
  launch(*core->get_scheduler(), std::move(h), wait_data_change(core, std::move(path), seen_mzxid));
}

void session_operations::start_children_change(handler<node_children> h, core_ptr core, std::string path,
                                               std::int64_t seen_pzxid) {
  launch(*core->get_scheduler(), std::move(h), wait_children_change(core, std::move(path), seen_pzxid));
}

void session_operations::start_close_for(handler<> h, core_ptr core, time_budget budget, diagnostic why) {
  const auto deadline = core->get_scheduler()->deadline_of(budget);
  launch(*core->get_scheduler(), std::move(h), close_by(core, deadline, std::move(why)), persistence::endless);
}

void session_operations::start_close(handler<> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), close(core), persistence::endless);
}

const char* to_string(session_state state) noexcept {
  switch (state) {
    case session_state::connecting: return "connecting";
    case session_state::connected: return "connected";
    case session_state::suspended: return "suspended";
    case session_state::expired: return "expired";
    case session_state::closed: return "closed";
  }
  return "?";
}

session::session(boost::asio::any_io_executor executor, session_options options)
    : core_(make_core(executor, std::move(options), &backend::make_real_world)) {}

boost::asio::any_io_executor session::get_executor() const noexcept {
  return core_ ? core_->get_scheduler()->base : boost::asio::any_io_executor();
}
session_status session::status() const {
  if (core_) return core_->status();
  session_status none;
  none.state = session_state::closed;
  none.reason = errc::closed;
  return none;
}
session_counters session::counters() const { return core_ ? core_->counters() : session_counters(); }
lease_clock::time_point session::valid_until() const {
  return core_ ? core_->valid_until() : lease_clock::time_point();
}

}  // namespace zkrecipes
