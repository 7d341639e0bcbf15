// Lists transactions.
#include <algorithm>
#include <iterator>
#include <utility>

#include "commit/commit_record.hpp"
#include "commit/transaction_index.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

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

/// Up to `at_a_time` ids, beginning with number `from`.
std::vector<std::string> some_of(const std::vector<std::string>& ids, std::size_t from) {
  const auto end = std::min(ids.size(), from + at_a_time);
  return {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

awaitable<outcome<std::vector<indexed_transaction>>> transaction_index::read_undecided() {
  auto path = co_await read_path();
  if (std::get<0>(path)) co_return failed<std::vector<indexed_transaction>>(std::get<0>(path));
  const bool is_indexed = std::get<1>(path).layout == commit_layout::indexed;
  auto folder = is_indexed ? undecided_folder(path_) : path_;
  auto listed = co_await list_ids(std::move(folder));
  if (std::get<0>(listed)) co_return failed<std::vector<indexed_transaction>>(std::get<0>(listed));
  co_return co_await read(std::move(std::get<1>(listed)), is_indexed);
}

awaitable<outcome<std::vector<std::string>>> transaction_index::undecided_ids() {
  auto found = co_await read_undecided();
  std::vector<std::string> ids;
  for (auto& each : std::get<1>(found)) {
    if (each.what == indexed_transaction::kind::undecided) ids.push_back(std::move(each.id));
  }
  co_return outcome<std::vector<std::string>>(std::get<0>(found), std::move(ids));
}

awaitable<outcome<std::vector<std::string>>> transaction_index::hours() { return list_ids(decided_folder(path_)); }

awaitable<outcome<std::vector<indexed_transaction>>> transaction_index::read_hour(std::string hour) {
  auto folder = join(decided_folder(path_), hour);
  auto listed = co_await list_ids(std::move(folder));
  if (std::get<0>(listed)) co_return failed<std::vector<indexed_transaction>>(std::get<0>(listed));
  co_return co_await read(std::move(std::get<1>(listed)), true);
}

/// Names below a node that can be ids, read behind a catch-up, so that all that others have completed is seen; none if
/// there is no such node.
awaitable<outcome<std::vector<std::string>>> transaction_index::list_ids(std::string folder) {
  std::vector<std::string> ids;
  std::vector<backend::request> look{make_request(opcode::children, folder)};
  auto answered = co_await perform_latest(session_, std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  if (!error && replies[0].error != errc::no_node) error = replies[0].error;
  if (error) co_return outcome<std::vector<std::string>>(error, std::move(ids));
  for (auto& each : replies[0].children) {
    if (is_transaction_id(each)) ids.push_back(std::move(each));
  }
  co_return outcome<std::vector<std::string>>(error, std::move(ids));
}

/// Looks at each of these transactions, some at a time. `is_ours`: none of them is foreign; then those that are not
/// decided are not read. With an error the result has those that were seen before it.
awaitable<outcome<std::vector<indexed_transaction>>> transaction_index::read(std::vector<std::string> ids,
                                                                             bool is_ours) {
  std::vector<indexed_transaction> all;
  error_code error;
  for (std::size_t from = 0; from < ids.size() && !error; from += at_a_time) {
    auto few = some_of(ids, from);
    auto found = co_await read_some(std::move(few), is_ours);
    error = std::get<0>(found);
    std::move(std::get<1>(found).begin(), std::get<1>(found).end(), std::back_inserter(all));
  }
  co_return outcome<std::vector<indexed_transaction>>(error, std::move(all));
}

/// A record is written a second time only with the decision. So a record of ours with version 0 is undecided, and its
/// data need not be read.
awaitable<outcome<std::vector<indexed_transaction>>> transaction_index::read_some(std::vector<std::string> ids,
                                                                                  bool is_ours) {
  using result_type = outcome<std::vector<indexed_transaction>>;
  std::vector<backend::request> looks;
  for (const auto& each : ids) looks.push_back(make_request(opcode::exists, join(path_, each)));
  auto looked = co_await perform_together(session_, std::move(looks), persistence::limited);
  std::vector<indexed_transaction> some;
  if (std::get<0>(looked)) co_return result_type(std::get<0>(looked), std::move(some));
  std::vector<std::size_t> written;
  std::vector<backend::request> reads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto& seen = std::get<1>(looked)[i];
    if (is_untold(seen.error)) co_return result_type(seen.error, std::move(some));
    some.push_back(
        {ids[i], seen.stat, seen.error ? indexed_transaction::kind::gone : indexed_transaction::kind::undecided});
    if (seen.error || (is_ours && seen.stat.version == 0)) continue;
    written.push_back(i);
    reads.push_back(make_request(opcode::get, join(path_, ids[i])));
  }
  if (reads.empty()) co_return result_type(error_code(), std::move(some));
  auto answered = co_await perform_together(session_, std::move(reads), persistence::limited);
  for (std::size_t i = 0; i < std::get<1>(answered).size(); ++i) {
    const auto& node = std::get<1>(answered)[i];
    if (is_untold(node.error)) co_return result_type(node.error, std::move(some));
    some[written[i]].what = kind_of(node);
    some[written[i]].stat = node.stat;
  }
  co_return result_type(std::get<0>(answered), std::move(some));
}

}  // namespace zkrecipes::detail
