#include "career/known_record.hpp"

#include <utility>

namespace zkrecipes::detail {

std::optional<known_record> to_known(const backend::reply& node) {
  auto record = parse_record(node.data);
  if (!record) return std::nullopt;
  return known_record{std::move(*record), node.stat.version, node.stat.mzxid, node.stat.mtime};
}

awaitable<outcome<known_record>> read_record(core_ptr session, std::string path, incarnation_ptr bound) {
  // After that long without a connection the seat is lost, and a request to stop should be noticed.
  const auto deadline = session->now() + session->options().timeout;
  auto look = make_request(backend::opcode::get, std::move(path), true);
  auto result = co_await session->perform(std::move(look), retry::always, std::move(bound), deadline);
  if (result.error) co_return failed<known_record>(result.error);
  auto known = to_known(result);
  if (!known) co_return failed<known_record>(errc::foreign_data);
  co_return outcome<known_record>(error_code(), std::move(*known));
}

}  // namespace zkrecipes::detail
