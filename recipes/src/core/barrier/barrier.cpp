#include <stdexcept>
#include <utility>

#include <zkrecipes/barrier.hpp>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes {

using namespace detail;
using backend::opcode;

namespace {

constexpr std::string_view barrier_kind = "barrier";

bool is_ours(const std::string& data) {
  const auto object = json_object::parse(data);
  return object && object->is(barrier_kind);
}

/// Curator's clients write an address, kazoo's write nothing. Other recipes of this library write JSON objects.
bool is_foreign(const backend::reply& node) {
  const bool another_recipe = node.data.starts_with('{') && !is_ours(node.data);
  return node.stat.num_children > 0 || another_recipe;
}

/// Reads the barrier behind a catch-up, so that all that others have completed is seen. Error: `no_node` if it is not
/// raised.
awaitable<backend::reply> look(core_ptr session, std::string path, persistence how_long, bool watch) {
  std::vector<backend::request> all{make_request(opcode::get, path, watch)};
  auto answered = co_await perform_latest(std::move(session), std::move(all), how_long);
  auto& [error, replies] = answered;
  if (!error) co_return std::move(replies.back());
  backend::reply failed;
  failed.error = error;
  co_return failed;
}

/// A create whose reply was lost must not be sent again, because somebody may have lifted the barrier that it raised.
awaitable<outcome<std::int64_t>> raise(core_ptr session, std::string path) {
  for (;;) {
    auto create = make_request(opcode::create, path);
    create.data = json_object::of_kind(barrier_kind).to_text();
    auto created = co_await session->perform(std::move(create), retry::once);
    if (!created.error) co_return outcome<std::int64_t>(created.error, created.stat.czxid);
    const bool lost = may_have_happened(created.error);
    if (created.error == errc::no_node) {
      auto error = co_await session->ensure_path(std::string(parent_of(path)));
      if (error) co_return outcome<std::int64_t>(error, 0);
    } else if (created.error == errc::node_exists || (lost && created.sent)) {
      auto seen = co_await look(session, path, persistence::limited, false);
      if (seen.error == errc::no_node && !lost) continue;  // lifted in between: raise it again
      if (seen.error == errc::no_node) seen.error = errc::outcome_unknown;
      if (!seen.error && is_foreign(seen)) seen.error = errc::foreign_data;
      co_return outcome<std::int64_t>(seen.error, seen.error ? 0 : seen.stat.czxid);
    } else {
      co_return outcome<std::int64_t>(created.error, 0);
    }
  }
}

awaitable<outcome<>> lift(core_ptr session, std::string path) {
  std::int64_t lifting = 0;
  for (;;) {
    auto seen = co_await look(session, path, persistence::limited, false);
    if (seen.error == errc::no_node) co_return outcome<>(error_code());
    if (seen.error) co_return outcome<>(seen.error);
    // Our removal was done, or another client's: the barrier that stands now was raised after it.
    if (lifting != 0 && seen.stat.czxid != lifting) co_return outcome<>(error_code());
    if (is_foreign(seen)) co_return outcome<>(errc::foreign_data);
    lifting = seen.stat.czxid;
    auto removed = co_await session->perform(make_request(opcode::remove, path), retry::once);
    const bool unclear = may_have_happened(removed.error);
    if (removed.error == errc::no_node) removed.error.clear();
    if (removed.error == errc::not_empty) removed.error = errc::foreign_data;
    if (!unclear) co_return outcome<>(removed.error);
  }
}

awaitable<outcome<>> wait(core_ptr session, std::string path) {
  condition changed(session->get_scheduler());
  std::int64_t waited_for = 0;
  for (;;) {
    auto hint = session->arm(watch_kind::data, path, changed);
    // `look` uses getData, because a watch set by `exists` would stay behind on a node that is gone.
    auto seen = co_await look(session, path, persistence::endless, true);
    if (seen.error == errc::no_node) co_return outcome<>(error_code());
    if (seen.error) co_return outcome<>(seen.error);
    if (waited_for != 0 && seen.stat.czxid != waited_for) co_return outcome<>(error_code());
    if (is_foreign(seen)) co_return outcome<>(errc::foreign_data);
    waited_for = seen.stat.czxid;
    // An event that came before the answer is older than the answer: it belongs to a wait that was given up.
    const bool outdated = hint->fired();
    while (!hint->fired()) {
      auto why = co_await changed.wait();
      if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
    }
    if (!outdated && hint->deleted()) co_return outcome<>(error_code());
  }
}

}  // namespace

barrier::barrier(session over, std::string path) : session_(std::move(over)), path_(std::move(path)) {
  require_session(session_);
  require_path("barrier path", path_);
  if (path_ == "/") throw std::invalid_argument("barrier path \"/\": the root is always there and can not be lifted");
}

void barrier::start_raise(handler_for<void(error_code, std::int64_t)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), raise(core, std::move(path)));
}

void barrier::start_lift(handler_for<void(error_code)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), lift(core, std::move(path)));
}

void barrier::start_wait(handler_for<void(error_code)> h, core_ptr core, std::string path,
                         lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), wait(core, std::move(path))));
}

}  // namespace zkrecipes
