#include <utility>

#include <zkrecipes/shared_value.hpp>

#include "backend/request.hpp"
#include "session/core.hpp"
#include "shared/replace.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<node_stat>> set_value(core_ptr session, std::string path, std::string data) {
  auto set = make_request(backend::opcode::set, path);
  set.data = data;
  if (is_too_large(data)) co_return outcome<node_stat>(errc::too_large, node_stat());
  for (;;) {
    auto written = co_await session->perform(set, retry::once);
    outcome<node_stat> result(written.error, written.stat);
    auto& error = std::get<0>(result);
    if (may_be_done(written)) error = errc::outcome_unknown;
    if (error == errc::no_node) result = co_await make(session, path, data);
    if (error == errc::node_exists) continue;  // it was created meanwhile
    if (error != errc::outcome_unknown) co_return result;
    // It does not matter which client wrote the value that we wanted. If there is another value or no node, ours may
    // have been replaced or deleted. Writing it again would bring it back.
    auto now = co_await read_latest(session, path);
    if (!now.error && now.data == data) result = outcome<node_stat>(error_code(), now.stat);
    co_return result;
  }
}

}  // namespace

shared_value::shared_value(session over, std::string path) : session_(std::move(over)), path_(std::move(path)) {
  require_session(session_);
  require_path("shared_value path", path_);
}

void shared_value::start_set(handler_for<void(error_code, node_stat)> h, core_ptr core, std::string path,
                             std::string data) {
  launch(*core->get_scheduler(), std::move(h), set_value(core, std::move(path), std::move(data)));
}

void shared_value::start_compare_and_set(handler_for<void(error_code, node_stat)> h, core_ptr core, std::string path,
                                         node_stat seen, std::string data) {
  auto body =
      seen.mzxid ? replace(core, std::move(path), seen, std::move(data)) : make(core, std::move(path), std::move(data));
  launch(*core->get_scheduler(), std::move(h), std::move(body));
}

}  // namespace zkrecipes
