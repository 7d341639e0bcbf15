// Lists transactions, and reads how one of them stands.
#include <algorithm>
#include <utility>

#include "commit/filing.hpp"
#include "commit/parties.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using std::chrono::milliseconds;

namespace {

/// This many nodes are read at a time: few round trips, and little memory if records are large.
constexpr std::size_t at_a_time = 20;

/// Whether the error does not tell if the node is there.
bool is_untold(const error_code& error) { return error && error != errc::no_node && error != errc::no_auth; }

commit_file::kind kind_of(const backend::reply& node) {
  if (node.error == errc::no_auth) return commit_file::kind::foreign;
  if (node.error) return commit_file::kind::gone;
  const auto record = parse_commit(node.data);
  if (!record) return commit_file::kind::foreign;
  return record->decided() ? commit_file::kind::decided : commit_file::kind::undecided;
}

/// A record is written a second time only with the decision. So a record of ours with version 0 is undecided, and its
/// data need not be read.
awaitable<error_code> read_some(core_ptr session, std::string path, std::vector<std::string> ids, bool is_ours,
                                std::vector<commit_file>& files) {
  std::vector<backend::request> looks;
  for (const auto& each : ids) looks.push_back(make_request(opcode::exists, join(path, each)));
  auto looked = co_await perform_together(session, std::move(looks), persistence::limited);
  if (std::get<0>(looked)) co_return std::get<0>(looked);
  std::vector<std::size_t> written;
  std::vector<backend::request> reads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto& seen = std::get<1>(looked)[i];
    if (is_untold(seen.error)) co_return seen.error;
    files.push_back({ids[i], seen.stat, seen.error ? commit_file::kind::gone : commit_file::kind::undecided});
    if (seen.error || (is_ours && seen.stat.version == 0)) continue;
    written.push_back(files.size() - 1);
    reads.push_back(make_request(opcode::get, join(path, ids[i])));
  }
  if (reads.empty()) co_return error_code();
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
  for (std::size_t i = 0; i < std::get<1>(read).size(); ++i) {
    const auto& node = std::get<1>(read)[i];
    if (is_untold(node.error)) co_return node.error;
    files[written[i]].what = kind_of(node);
    files[written[i]].stat = node.stat;
  }
  co_return std::get<0>(read);
}

/// Up to `at_a_time` ids, beginning with number `from`.
std::vector<std::string> some_of(const std::vector<std::string>& ids, std::size_t from) {
  const auto end = std::min(ids.size(), from + at_a_time);
  return {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

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

awaitable<outcome<std::vector<commit_file>>> read_files(core_ptr session, std::string path,
                                                        std::vector<std::string> ids, bool is_ours) {
  std::vector<commit_file> files;
  error_code error;
  for (std::size_t from = 0; from < ids.size() && !error; from += at_a_time) {
    error = co_await read_some(session, path, some_of(ids, from), is_ours, files);
  }
  co_return outcome<std::vector<commit_file>>(error, std::move(files));
}

awaitable<outcome<std::vector<commit_file>>> read_undecided(core_ptr session, std::string path) {
  using result_type = outcome<std::vector<commit_file>>;
  auto layout = co_await read_layout(session, path);
  if (std::get<0>(layout)) co_return result_type(std::get<0>(layout), std::vector<commit_file>());
  const bool is_filed = std::get<1>(layout).layout == commit_layout::filed;
  auto folder = is_filed ? undecided_folder(path) : path;
  auto listed = co_await list_ids(session, std::move(folder));
  if (std::get<0>(listed)) co_return result_type(std::get<0>(listed), std::vector<commit_file>());
  co_return co_await read_files(session, path, std::move(std::get<1>(listed)), is_filed);
}

awaitable<error_code> adopt_files(core_ptr session, std::string path, commit_path seen) {
  auto error = co_await session->ensure_path(undecided_folder(path));
  if (error) co_return error;
  auto listed = co_await list_ids(session, path);
  if (std::get<0>(listed)) co_return std::get<0>(listed);
  auto found = co_await read_files(session, path, std::move(std::get<1>(listed)), false);
  error = std::get<0>(found);
  for (auto& each : std::get<1>(found)) {
    const bool is_ours = each.what == commit_file::kind::undecided || each.what == commit_file::kind::decided;
    if (!error && is_ours) error = co_await mark_file(session, path, std::move(each));
  }
  if (error) co_return error;
  auto written = co_await write_filed(session, path, std::move(seen));
  co_return std::get<0>(written);
}

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node) {
  auto seen = co_await look_at_commit(session, node, persistence::limited, false, true);
  commit_state state;
  if (seen.error) co_return outcome<commit_state>(seen.error, std::move(state));
  std::vector<backend::request> reads;
  for (const auto& each : seen.record.participants) reads.push_back(make_request(opcode::get, vote_node(node, each)));
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
  auto error = std::get<0>(read);
  const auto& votes = std::get<1>(read);
  for (std::size_t i = 0; i < votes.size(); ++i) {
    if (!error && is_untold(votes[i].error)) error = votes[i].error;
    auto vote = votes[i].error ? std::nullopt : parse_vote(votes[i].data);
    if (!vote) continue;
    vote->participant = seen.record.participants[i];
    state.votes.push_back(std::move(*vote));
  }
  state.data = std::move(seen.record.data);
  state.participants = std::move(seen.record.participants);
  state.outcome = std::move(seen.record.outcome);
  state.begun = std::chrono::system_clock::time_point(milliseconds(seen.stat.ctime));
  co_return outcome<commit_state>(error, std::move(state));
}

}  // namespace zkrecipes::detail
