#include "commit/transaction_index.hpp"

#include <charconv>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::string_view path_kind = "two_phase_commit";
constexpr std::int64_t layout_with_marks = 2;
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

std::optional<commit_layout> layout_of(const std::string& data) {
  if (data.empty()) return commit_layout::mixed;
  const auto object = json_object::parse(data);
  if (!object || !object->is(path_kind)) return std::nullopt;
  if (!object->has("layout")) return commit_layout::mixed;  // as older versions wrote it, which made no marks
  return object->integer("layout") == layout_with_marks ? std::optional(commit_layout::indexed) : std::nullopt;
}

std::string indexed_data(const std::string& present) {
  auto object = json_object::parse(present).value_or(json_object::of_kind(path_kind));
  return object.set("layout", layout_with_marks).to_text();
}

awaitable<outcome<commit_path>> read_layout(core_ptr session, std::string path, bool latest) {
  std::vector<backend::request> look{make_request(opcode::get, std::move(path))};
  const auto how = latest ? perform_latest : perform_together;
  auto answered = co_await how(session, std::move(look), persistence::limited);
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

awaitable<outcome<std::int64_t>> write_indexed(core_ptr session, std::string path, commit_path seen) {
  for (;;) {
    auto set = make_request(opcode::set, path);
    set.data = indexed_data(seen.data);
    set.version = seen.version;
    auto written = co_await session->perform(std::move(set), retry::always);
    if (written.error != errc::bad_version) co_return outcome<std::int64_t>(written.error, written.stat.mtime);
    auto looked = co_await read_layout(session, path);  // somebody was quicker, or our reply was lost
    auto& [error, now] = looked;
    if (!error && now.layout == commit_layout::missing) error = errc::no_node;
    if (error) co_return outcome<std::int64_t>(error, 0);
    seen = std::move(now);
  }
}

awaitable<error_code> open_path(core_ptr session, std::string path) {
  for (;;) {
    auto create = make_request(opcode::create, path);
    create.data = indexed_data();
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
