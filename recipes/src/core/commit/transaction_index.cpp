#include "commit/transaction_index.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"

namespace zkrecipes {

const char* to_string(decision what) noexcept {
  switch (what) {
    case decision::pending: return "pending";
    case decision::committed: return "committed";
    case decision::aborted: return "aborted";
  }
  return "?";
}

namespace detail {

namespace {

constexpr std::string_view transaction_kind = "commit";
constexpr std::string_view vote_kind = "vote";

/// Nothing if it is none of these: a decision has no other values.
std::optional<decision> decision_named(std::string_view text) {
  for (auto each : {decision::pending, decision::committed, decision::aborted}) {
    if (text == to_string(each)) return each;
  }
  return std::nullopt;
}

bool is_name(std::string_view name) {
  auto is_bad = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; };
  return !name.empty() && name.size() <= 256 && std::none_of(name.begin(), name.end(), is_bad);
}

}  // namespace

bool commit_record::names(const std::string& participant) const {
  return std::find(participants.begin(), participants.end(), participant) != participants.end();
}

std::string serialize(const commit_record& record) {
  auto object = json_object::of_kind(transaction_kind);
  object.set("by", record.by).set("participants", record.participants).set("data", record.data);
  object.set("decision", to_string(record.outcome.decision)).set("reason", record.outcome.reason);
  return object.add(record.unknown_fields).to_text();
}

std::optional<commit_record> parse_commit(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is(transaction_kind)) return std::nullopt;
  commit_record record;
  record.by = object->text("by").value();
  record.participants = object->texts("participants").value();
  record.data = object->text("data").value();
  record.outcome.decision = decision_named(object->text("decision").value()).value();
  record.outcome.reason = object->text("reason").value();
  record.unknown_fields = object->without({"by", "participants", "data", "decision", "reason"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing or has another type
  return std::nullopt;
}

std::string serialize(const commit_vote& vote) {
  auto object = json_object::of_kind(vote_kind);
  return object.set("vote", vote.ballot == ballot::yes ? "yes" : "no").set("reason", vote.reason).to_text();
}

std::optional<commit_vote> parse_vote(const std::string& data) {
  const auto object = json_object::parse(data);
  const bool is_vote = object && (object->is(vote_kind) || !object->is_marked());  // older versions made no mark
  auto reason = is_vote && object->has("vote") ? object->text("reason") : std::nullopt;
  if (!reason) return std::nullopt;
  commit_vote vote;
  vote.ballot = object->text("vote") == "yes" ? ballot::yes : ballot::no;
  vote.reason = std::move(*reason);
  return vote;
}

bool is_transaction_id(std::string_view id) { return is_name(id) && id.front() != '_' && id != "." && id != ".."; }
bool is_participant(std::string_view name) { return is_name(name); }

std::string vote_node(const std::string& node, const std::string& participant) {
  return join(node, "vote-" + participant);
}

std::vector<std::string> missing_votes(const commit_record& record, const std::vector<std::string>& children) {
  std::vector<std::string> missing;
  for (const auto& each : record.participants) {
    if (std::find(children.begin(), children.end(), "vote-" + each) == children.end()) missing.push_back(each);
  }
  return missing;
}

}  // namespace detail

}  // namespace zkrecipes

namespace zkrecipes::detail {

namespace {

constexpr std::string_view path_kind = "two_phase_commit";
constexpr std::int64_t layout_with_marks = 2;

}  // namespace

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

namespace {

constexpr std::int64_t hour_ms = 3'600'000;

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

using backend::opcode;

transaction_index::transaction_index(core_ptr session, std::string path)
    : session_(std::move(session)), path_(std::move(path)) {}

awaitable<error_code> transaction_index::add_mark(indexed_transaction which) {
  const bool decided = which.what == indexed_transaction::kind::decided;
  const auto mark = decided ? decided_mark(path_, which.id, which.stat.ctime) : undecided_mark(path_, which.id);
  if (decided) co_await provide_folders(mark);
  auto make = make_request(opcode::create, mark);
  auto made = co_await session_->perform(std::move(make), retry::always);
  co_return made.error == errc::node_exists ? error_code() : made.error;
}

awaitable<error_code> transaction_index::move_mark(std::string id, std::int64_t begun) {
  const auto after = decided_mark(path_, id, begun);
  const auto before = undecided_mark(path_, id);
  // In one transaction, so that the mark is in one of the folders at any time.
  transaction move;
  move.remove(before).create(after);
  backend::reply done = co_await session_->perform(backend::make_multi(move), retry::always);
  if (done.error == errc::no_node) {  // the folder of the hour is missing, or somebody has moved the mark
    co_await provide_folders(after);
    done = co_await session_->perform(backend::make_multi(move), retry::always);
  }
  if (done.error == errc::node_exists) co_return co_await remove_mark(before);
  co_return done.error == errc::no_node ? error_code() : done.error;
}

void transaction_index::move_mark_later(std::string id, std::int64_t begun) const {
  struct body {
    static awaitable<void> run(transaction_index self, std::string id, std::int64_t begun) {
      co_await self.move_mark(std::move(id), begun);
    }
  };
  launch_detached(session_->strand(), body::run(*this, std::move(id), begun));
}

awaitable<error_code> transaction_index::remove_mark(std::string mark) {
  auto remove = make_request(opcode::remove, std::move(mark));
  auto removed = co_await session_->perform(std::move(remove), retry::always);
  co_return removed.error == errc::no_node ? error_code() : removed.error;
}

/// Creates the folder of an hour and the folder above it. Errors are ignored: if the path itself is missing, nothing is
/// to be kept any more.
awaitable<void> transaction_index::provide_folders(std::string mark) {
  auto hour = std::string(parent_of(mark));
  std::vector<backend::request> both{make_request(opcode::create, decided_folder(path_)),
                                     make_request(opcode::create, hour)};
  co_await session_->perform_all(std::move(both));
}

// The path itself: what its data says about the marks below it.

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

// Lists transactions.

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
