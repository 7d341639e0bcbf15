// Lists transactions.
#include <algorithm>
#include <utility>

#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// This many nodes are read at a time: few round trips, and little memory if records are large.
constexpr std::size_t at_a_time = 20;

indexed_transaction::kind kind_of(const backend::reply& node) {
  if (node.error == errc::no_auth) return indexed_transaction::kind::foreign;
  if (node.error) return indexed_transaction::kind::gone;
  const auto record = parse_commit(node.data);
  if (!record) return indexed_transaction::kind::foreign;
  return record->decided() ? indexed_transaction::kind::decided : indexed_transaction::kind::undecided;
}

/// A record is written a second time only with the decision. So a record of ours with version 0 is undecided, and its
/// data need not be read.
awaitable<error_code> read_some(core_ptr session, std::string path, std::vector<std::string> ids, bool is_ours,
                                std::vector<indexed_transaction>& all) {
  std::vector<backend::request> looks;
  for (const auto& each : ids) looks.push_back(make_request(opcode::exists, join(path, each)));
  auto looked = co_await perform_together(session, std::move(looks), persistence::limited);
  if (std::get<0>(looked)) co_return std::get<0>(looked);
  std::vector<std::size_t> written;
  std::vector<backend::request> reads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto& seen = std::get<1>(looked)[i];
    if (is_untold(seen.error)) co_return seen.error;
    all.push_back(
        {ids[i], seen.stat, seen.error ? indexed_transaction::kind::gone : indexed_transaction::kind::undecided});
    if (seen.error || (is_ours && seen.stat.version == 0)) continue;
    written.push_back(all.size() - 1);
    reads.push_back(make_request(opcode::get, join(path, ids[i])));
  }
  if (reads.empty()) co_return error_code();
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
  for (std::size_t i = 0; i < std::get<1>(read).size(); ++i) {
    const auto& node = std::get<1>(read)[i];
    if (is_untold(node.error)) co_return node.error;
    all[written[i]].what = kind_of(node);
    all[written[i]].stat = node.stat;
  }
  co_return std::get<0>(read);
}

/// Up to `at_a_time` ids, beginning with number `from`.
std::vector<std::string> some_of(const std::vector<std::string>& ids, std::size_t from) {
  const auto end = std::min(ids.size(), from + at_a_time);
  return {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

bool is_untold(const error_code& error) { return error && error != errc::no_node && error != errc::no_auth; }

awaitable<outcome<std::vector<std::string>>> list_ids(core_ptr session, std::string folder) {
  std::vector<std::string> ids;
  std::vector<backend::request> look{make_request(opcode::children, folder)};
  auto answered = co_await perform_latest(session, std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  if (!error && replies[0].error != errc::no_node) error = replies[0].error;
  if (error) co_return outcome<std::vector<std::string>>(error, std::move(ids));
  for (auto& each : replies[0].children) {
    if (is_transaction_id(each)) ids.push_back(std::move(each));
  }
  co_return outcome<std::vector<std::string>>(error, std::move(ids));
}

awaitable<outcome<std::vector<indexed_transaction>>> read_transactions(core_ptr session, std::string path,
                                                                       std::vector<std::string> ids, bool is_ours) {
  std::vector<indexed_transaction> all;
  error_code error;
  for (std::size_t from = 0; from < ids.size() && !error; from += at_a_time) {
    error = co_await read_some(session, path, some_of(ids, from), is_ours, all);
  }
  co_return outcome<std::vector<indexed_transaction>>(error, std::move(all));
}

awaitable<outcome<std::vector<indexed_transaction>>> read_undecided(core_ptr session, std::string path) {
  using result_type = outcome<std::vector<indexed_transaction>>;
  auto layout = co_await read_layout(session, path);
  if (std::get<0>(layout)) co_return result_type(std::get<0>(layout), std::vector<indexed_transaction>());
  const bool is_indexed = std::get<1>(layout).layout == commit_layout::indexed;
  auto folder = is_indexed ? undecided_folder(path) : path;
  auto listed = co_await list_ids(session, std::move(folder));
  if (std::get<0>(listed)) co_return result_type(std::get<0>(listed), std::vector<indexed_transaction>());
  co_return co_await read_transactions(session, path, std::move(std::get<1>(listed)), is_indexed);
}

awaitable<error_code> adopt_transactions(core_ptr session, std::string path, commit_path seen) {
  auto error = co_await session->ensure_path(undecided_folder(path));
  if (error) co_return error;
  auto listed = co_await list_ids(session, path);
  if (std::get<0>(listed)) co_return std::get<0>(listed);
  auto found = co_await read_transactions(session, path, std::move(std::get<1>(listed)), false);
  error = std::get<0>(found);
  for (auto& each : std::get<1>(found)) {
    const bool is_ours =
        each.what == indexed_transaction::kind::undecided || each.what == indexed_transaction::kind::decided;
    if (!error && is_ours) error = co_await add_mark(session, path, std::move(each));
  }
  if (error) co_return error;
  auto written = co_await write_indexed(session, path, std::move(seen));
  co_return std::get<0>(written);
}

}  // namespace zkrecipes::detail
