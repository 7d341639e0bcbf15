// Looking through the transactions: what there is, and what of it is old.
#include <utility>

#include "commit/parties.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using std::chrono::milliseconds;

namespace {

/// A time of the servers, for comparison with the times of nodes; the path is marked as ours by the way.
awaitable<outcome<std::int64_t>> server_time(core_ptr session, std::string path) {
  auto look = make_request(opcode::get, path);
  auto seen = co_await session->perform(std::move(look), retry::always);
  if (!seen.error && !seen.data.empty() && seen.data != commit_mark) seen.error = errc::foreign_data;
  if (seen.error) co_return outcome<std::int64_t>(seen.error, 0);
  auto mark = make_request(opcode::set, std::move(path));
  mark.data = std::string(commit_mark);
  auto marked = co_await session->perform(std::move(mark), retry::always);
  co_return outcome<std::int64_t>(marked.error, marked.stat.mtime);
}

/// Its votes and itself at once; whatever else somebody has put there stays, and the transaction with it.
awaitable<backend::reply> remove_file(core_ptr session, std::string node, std::int32_t version) {
  auto list = make_request(opcode::children, node);
  auto listed = co_await session->perform(std::move(list), retry::always);
  if (listed.error) co_return listed;
  transaction all;
  for (const auto& each : listed.children) {
    if (each.starts_with("vote-")) all.remove(join(node, each));
  }
  all.remove(node, version);
  co_return co_await session->perform(backend::make_multi(all), retry::once);
}

awaitable<backend::reply> give_up(core_ptr session, std::string node, commit_file file) {
  file.record.outcome = {decision::aborted, "given up"};
  auto abort = make_request(opcode::set, std::move(node));
  abort.data = serialize(file.record);
  abort.version = file.stat.version;
  co_return co_await session->perform(std::move(abort), retry::once);
}

/// What does not concern the next one to be cleaned up.
bool is_minor(const error_code& error) {
  return is_overtaken(error) || error == errc::not_empty || error == errc::foreign_data;
}

}  // namespace

awaitable<outcome<std::vector<commit_file>>> read_files(core_ptr session, std::string path) {
  std::vector<commit_file> files;
  std::vector<backend::request> look{make_request(opcode::sync, "/"), make_request(opcode::children, path)};
  auto answered = co_await perform_together(session, std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  if (!error && replies[1].error != errc::no_node) error = replies[1].error;
  if (error) co_return outcome<std::vector<commit_file>>(error, std::move(files));
  std::vector<std::string> ids;
  for (auto& each : replies[1].children) {
    if (is_transaction_id(each)) ids.push_back(std::move(each));
  }
  std::vector<backend::request> reads;
  for (const auto& each : ids) reads.push_back(make_request(opcode::get, join(path, each)));
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
  error = std::get<0>(read);
  auto& nodes = std::get<1>(read);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto record = nodes[i].error ? std::nullopt : parse_commit(nodes[i].data);
    if (record) files.push_back({std::move(ids[i]), std::move(*record), nodes[i].stat});  // else gone, or not ours
  }
  co_return outcome<std::vector<commit_file>>(error, std::move(files));
}

awaitable<outcome<std::size_t>> clean_up(core_ptr session, std::string path, milliseconds age) {
  std::size_t removed = 0;
  auto timed = co_await server_time(session, path);
  auto& [error, present] = timed;
  if (error == errc::no_node) co_return outcome<std::size_t>(error_code(), removed);
  if (error) co_return outcome<std::size_t>(error, removed);
  auto found = co_await read_files(session, path);
  error = std::get<0>(found);
  for (auto& each : std::get<1>(found)) {
    const bool decided = each.record.decided();
    const auto node = join(path, each.id);
    const auto since = decided ? each.stat.mtime : each.stat.ctime;
    if (error || present - since < age.count()) continue;
    backend::reply done;
    if (decided) {
      done = co_await remove_file(session, node, each.stat.version);
    } else {
      done = co_await give_up(session, node, std::move(each));
    }
    if (decided && !done.error) ++removed;
    if (!is_minor(done.error)) error = done.error;
  }
  co_return outcome<std::size_t>(error, removed);
}

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node) {
  auto seen = co_await look_at_commit(session, node, persistence::limited, false, true);
  commit_state state;
  if (seen.error) co_return outcome<commit_state>(seen.error, std::move(state));
  std::vector<backend::request> reads;
  for (const auto& each : seen.record.participants) reads.push_back(make_request(opcode::get, vote_node(node, each)));
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
  const auto error = std::get<0>(read);
  const auto& votes = std::get<1>(read);
  for (std::size_t i = 0; i < votes.size(); ++i) {
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
