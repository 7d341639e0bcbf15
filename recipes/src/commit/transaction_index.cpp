#include "commit/transaction_index.hpp"

#include <charconv>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::int64_t hour_ms = 3'600'000;

std::string path_of(const std::string& node) { return std::string(parent_of(node)); }
std::string id_of(const std::string& node) { return std::string(name_of(node)); }

/// Creates the folder of an hour and the folder above it. Errors are ignored: if the path itself is missing, nothing is
/// to be kept any more.
awaitable<void> provide_folders(core_ptr session, std::string mark) {
  auto hour = path_of(mark);
  std::vector<backend::request> both{make_request(opcode::create, path_of(hour)), make_request(opcode::create, hour)};
  co_await session->perform_all(std::move(both));
}

}  // namespace

std::string undecided_folder(const std::string& path) { return join(path, "_undecided"); }
std::string undecided_mark(const std::string& path, const std::string& id) { return join(undecided_folder(path), id); }
std::string decided_folder(const std::string& path) { return join(path, "_decided"); }
std::string decided_mark(const std::string& path, const std::string& id, std::int64_t begun) {
  return join(join(decided_folder(path), std::to_string(begun / hour_ms)), id);
}

std::optional<std::int64_t> hour_of(const std::string& folder) {
  std::int64_t hour = 0;
  const auto* end = folder.data() + folder.size();
  auto [rest, error] = std::from_chars(folder.data(), end, hour);
  const bool is_hour = error == std::errc() && rest == end && hour >= 0 && hour < (std::int64_t{1} << 40);
  return is_hour ? std::optional(hour * hour_ms) : std::nullopt;
}

awaitable<outcome<commit_layout>> read_layout(core_ptr session, std::string path, bool latest) {
  std::vector<backend::request> look{make_request(opcode::get, std::move(path))};
  const auto how = latest ? perform_latest : perform_together;
  auto answered = co_await how(session, std::move(look), persistence::limited);
  if (std::get<0>(answered)) co_return outcome<commit_layout>(std::get<0>(answered), commit_layout::mixed);
  auto& seen = std::get<1>(answered).back();
  auto layout = seen.data == commit_mark ? commit_layout::indexed : commit_layout::mixed;
  if (seen.error == errc::no_node) seen.error.clear(), layout = commit_layout::missing;
  const bool is_ours = seen.data.empty() || seen.data == commit_mark || seen.data == old_commit_mark;
  if (!seen.error && !is_ours) seen.error = errc::foreign_data;
  co_return outcome<commit_layout>(seen.error, layout);
}

awaitable<error_code> open_path(core_ptr session, std::string path) {
  for (;;) {
    auto create = make_request(opcode::create, path);
    create.data = std::string(commit_mark);
    auto created = co_await session->perform(std::move(create), retry::always);
    if (created.error == errc::no_node) {
      created.error = co_await session->ensure_path(path_of(path));
      if (!created.error) continue;
    }
    if (created.error && created.error != errc::node_exists) co_return created.error;
    co_return co_await session->ensure_path(undecided_folder(path));
  }
}

awaitable<error_code> index_decided(core_ptr session, std::string node, std::int64_t begun) {
  const auto path = path_of(node);
  const auto after = decided_mark(path, id_of(node), begun);
  const auto before = undecided_mark(path, id_of(node));
  // In one transaction, so that the mark is in one of the folders at any time.
  transaction move;
  move.remove(before).create(after);
  backend::reply done = co_await session->perform(backend::make_multi(move), retry::always);
  if (done.error == errc::no_node) {  // the folder of the hour is missing, or somebody has moved the mark
    co_await provide_folders(session, after);
    done = co_await session->perform(backend::make_multi(move), retry::always);
  }
  if (done.error == errc::node_exists) co_return co_await remove_mark(session, before);
  co_return done.error == errc::no_node ? error_code() : done.error;
}

void index_later(const core_ptr& session, std::string node, std::int64_t begun) {
  struct body {
    static awaitable<void> run(core_ptr session, std::string node, std::int64_t begun) {
      co_await index_decided(std::move(session), std::move(node), begun);
    }
  };
  launch_detached(session->strand(), body::run(session, std::move(node), begun));
}

awaitable<error_code> remove_mark(core_ptr session, std::string mark) {
  auto remove = make_request(opcode::remove, std::move(mark));
  auto removed = co_await session->perform(std::move(remove), retry::always);
  co_return removed.error == errc::no_node ? error_code() : removed.error;
}

awaitable<error_code> add_mark(core_ptr session, std::string path, indexed_transaction which) {
  const bool decided = which.what == indexed_transaction::kind::decided;
  const auto mark = decided ? decided_mark(path, which.id, which.stat.ctime) : undecided_mark(path, which.id);
  if (decided) co_await provide_folders(session, mark);
  auto make = make_request(opcode::create, mark);
  auto made = co_await session->perform(std::move(make), retry::always);
  co_return made.error == errc::node_exists ? error_code() : made.error;
}

}  // namespace zkrecipes::detail
