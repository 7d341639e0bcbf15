// Creates a node together with its missing parents.
#include <vector>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<error_code> core::ensure_path(std::string path, incarnation_ptr bound) {
  if (path == "/") {  // the root is created by `session_options::create_root` only
    auto root = co_await perform(make_request(opcode::exists, "/"), retry::always, bound);
    co_return root.error;
  }
  const auto deadline = retry_deadline();
  auto pause = patience();
  for (bool was_sent = false;; was_sent = true) {
    auto error = co_await wait_connected(bound, deadline);
    if (error == errc::timed_out) co_return report_no_connection(make_request(opcode::create, path), was_sent);
    if (error) co_return error;
    std::vector<exchange_ptr> sent;
    for (std::size_t end = 0; end != path.npos;) {
      end = path.find('/', end + 1);
      auto create = make_request(opcode::create, path.substr(0, end));
      sent.push_back(send(std::move(create)));
    }
    error_code first;
    error_code last;
    bool again = false;
    bool is_above = false;  // the answer before said that the parent exists
    for (const auto& each : sent) {
      auto result = co_await answer(each);
      last = result.error == errc::node_exists ? error_code() : result.error;
      // Either this create was throttled, or somebody has removed the parent since.
      again = again || result.throttled || (last == errc::no_node && is_above);
      is_above = !last;
      if (last && !first) first = last;
    }
    // If the last node exists, an error at an ancestor, to which we may have no rights, does not matter.
    if (!last) co_return last;
    if (is_reply_lost(last)) continue;
    if (!again || now() >= deadline) co_return first;
    error = co_await outwait(pause, bound);
    if (error) co_return error;
  }
}

}  // namespace zkrecipes::detail
