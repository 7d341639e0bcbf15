// The path itself: what its data says about the marks below it.
#include <utility>

#include "commit/transaction_index.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<error_code> transaction_index::open() {
  for (;;) {
    auto create = make_request(opcode::create, path_);
    create.data = indexed_data();
    auto created = co_await session_->perform(std::move(create), retry::always);
    if (created.error == errc::no_node) {
      created.error = co_await session_->ensure_path(std::string(parent_of(path_)));
      if (!created.error) continue;
    }
    if (created.error && created.error != errc::node_exists) co_return created.error;
    co_return co_await session_->ensure_path(undecided_folder(path_));
  }
}

awaitable<outcome<commit_path>> transaction_index::read_path(bool latest) {
  std::vector<backend::request> look{make_request(opcode::get, path_)};
  const auto how = latest ? perform_latest : perform_together;
  auto answered = co_await how(session_, std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  commit_path seen;
  if (error) co_return outcome<commit_path>(error, std::move(seen));
  auto& node = replies.back();
  const auto layout = node.error ? std::nullopt : layout_of(node.data);
  if (layout) seen = {*layout, std::move(node.data), node.stat.version};
  if (!node.error && !layout) node.error = errc::foreign_data;
  if (node.error == errc::no_node) node.error.clear();
  co_return outcome<commit_path>(node.error, std::move(seen));
}

awaitable<outcome<std::int64_t>> transaction_index::write_indexed(commit_path seen) {
  for (;;) {
    auto set = make_request(opcode::set, path_);
    set.data = indexed_data(seen.data);
    set.version = seen.version;
    auto written = co_await session_->perform(std::move(set), retry::always);
    if (written.error != errc::bad_version) co_return outcome<std::int64_t>(written.error, written.stat.mtime);
    auto looked = co_await read_path();  // somebody was quicker, or our reply was lost
    auto& [error, now] = looked;
    if (!error && now.layout == commit_layout::missing) error = errc::no_node;
    if (error) co_return outcome<std::int64_t>(error, 0);
    seen = std::move(now);
  }
}

awaitable<error_code> transaction_index::adopt(commit_path seen) {
  auto error = co_await session_->ensure_path(undecided_folder(path_));
  if (error) co_return error;
  auto listed = co_await list_ids(path_);
  if (std::get<0>(listed)) co_return std::get<0>(listed);
  auto found = co_await read(std::move(std::get<1>(listed)), false);
  error = std::get<0>(found);
  for (auto& each : std::get<1>(found)) {
    const bool is_ours =
        each.what == indexed_transaction::kind::undecided || each.what == indexed_transaction::kind::decided;
    if (!error && is_ours) error = co_await add_mark(std::move(each));
  }
  if (error) co_return error;
  auto written = co_await write_indexed(std::move(seen));
  co_return std::get<0>(written);
}

}  // namespace zkrecipes::detail
