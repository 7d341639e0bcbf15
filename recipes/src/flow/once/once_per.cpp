#include "once/once_per.hpp"

#include <chrono>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/flow/once_per.hpp>

#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view intent_kind = "once_intent";
constexpr std::string_view period_kind = "once_per";
constexpr std::int64_t shortest_period_ms = 1'000;

std::optional<std::chrono::milliseconds> read_span(const json_object& record) {
  const auto ms = record.integer("per_ms", shortest_period_ms);
  return ms ? std::optional(std::chrono::milliseconds(*ms)) : std::nullopt;
}

}  // namespace

std::string serialize(const once_record& record) {
  auto text = json_object::of_kind(intent_kind);
  text.set("key", record.key).set("id", record.id).set("guid", record.guid);
  if (!record.note.empty()) text.set("note", record.note);
  if (record.is_withdrawn) text.set_flag("withdrawn", true);
  return text.add(record.unknown_fields).to_text();
}

std::optional<once_record> parse_once_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(intent_kind)) return std::nullopt;
  const auto key = read->text("key");
  const auto id = read->text("id");
  const auto guid = read->text("guid");
  if (!key || !id || !guid) return std::nullopt;
  return once_record{*key,
                     *id,
                     *guid,
                     read->text("note").value_or(""),
                     read->flag("withdrawn").value_or(false),
                     read->without({"key", "id", "guid", "note", "withdrawn"})};
}

std::string serialize_period(std::chrono::milliseconds per) {
  return json_object::of_kind(period_kind).set("per_ms", static_cast<std::int64_t>(per.count())).to_text();
}

std::optional<std::chrono::milliseconds> parse_period(const std::string& data) {
  const auto read = json_object::parse(data);
  return read && read->is(period_kind) ? read_span(*read) : std::nullopt;
}

using namespace std::chrono_literals;
using backend::opcode;

namespace {

constexpr int most_rounds = 100;
constexpr std::size_t longest_intent_key = 1'000;
constexpr std::size_t longest_intent_note = 1'000;

backend::request write_of(opcode how, std::string path, std::string data, std::int32_t version = any_version) {
  auto write = make_request(how, std::move(path));
  write.data = std::move(data);
  write.version = version;
  return write;
}

}  // namespace

once_state::once_state(core_ptr session, std::string path, once_per_options options)
    : session_(std::move(session)), options_(std::move(options)), where_{std::move(path), options_.per} {}

awaitable<outcome<once_intent>> once_state::claim(std::string key, std::string note) {
  const bool is_right = !key.empty() && key.size() <= longest_intent_key && note.size() <= longest_intent_note;
  if (!is_right) co_return failed<once_intent>(errc::bad_arguments);
  const once_record mine{std::move(key), options_.id, session_->make_guid(), std::move(note)};
  for (int round = 0; round < most_rounds; ++round) {
    auto error = co_await prepare();
    if (error) co_return failed<once_intent>(error);
    const auto period = where_.period_at(time_.present(session_->now()));
    auto seen = co_await try_in(period, mine);
    if (seen.error) co_return failed<once_intent>(seen.error);
    if (seen.what == finding::foreign) co_return failed<once_intent>(errc::foreign_data);
    if (seen.what == finding::nothing) time_.forget();  // perhaps the path has gone, with everything below it
    if (seen.what != finding::ours && seen.what != finding::others) continue;
    clean_if_due();
    auto& of = seen.record;
    const std::chrono::system_clock::time_point at{std::chrono::milliseconds(seen.stat.mtime)};
    once_intent found{seen.what == finding::ours, of.key, of.id, of.note, of.guid, at, period, seen.stat.version};
    co_return outcome<once_intent>(error_code(), std::move(found));
  }
  co_return failed<once_intent>(errc::busy);
}

awaitable<once_state::sight> once_state::try_in(std::int64_t period, once_record mine) {
  const auto path = where_.intent(period, mine.key);
  std::vector<backend::request> writes{write_of(opcode::create, path, serialize(mine))};
  auto node = co_await write_and_look(writes);
  if (node.error == errc::no_node) {
    writes.insert(writes.begin(), make_request(opcode::create, where_.period(period)));
    node = co_await write_and_look(writes);
  }
  auto seen = judge(mine, period, node);
  if (seen.what != finding::free) co_return seen;
  mine.unknown_fields = std::move(seen.record.unknown_fields);
  writes = {write_of(opcode::set, path, serialize(mine), seen.stat.version)};
  node = co_await write_and_look(writes);
  co_return judge(mine, period, node);
}

/// Sends the writes and, behind them, a read of the last node: one round trip. After a lost connection all are sent
/// again, and the read tells whose write stands. A write that came second (`is_write_conflict`) is no error.
awaitable<backend::reply> once_state::write_and_look(std::vector<backend::request> all) {
  all.push_back(make_request(opcode::get, all.back().path));
  auto replies = co_await session_->perform_all(std::move(all));
  for (auto& each : replies) {
    if (each.error && !is_write_conflict(each.error)) co_return std::move(each);
  }
  co_return std::move(replies.back());
}

once_state::sight once_state::judge(const once_record& mine, std::int64_t period, const backend::reply& node) {
  sight seen;
  if (node.error && node.error != errc::no_node) seen.error = node.error;
  if (node.error) return seen;
  auto found = parse_once_record(node.data);
  seen.what = finding::foreign;
  if (!found || found->key != mine.key) return seen;
  const auto stamped = where_.period_at(node.stat.mtime);
  const bool is_ours = found->guid == mine.guid;
  const bool is_free = stamped < period ? !is_ours : found->is_withdrawn;
  if (is_ours) {
    time_.observe(node.stat.mtime, session_->now());
  } else {
    time_.observe_earlier(node.stat.mtime, session_->now());
  }
  seen.what = is_ours ? finding::ours : finding::others;
  if (stamped != period) seen.what = finding::elsewhere;
  if (is_free && stamped <= period) seen.what = finding::free;
  seen.record = std::move(*found);
  seen.stat = node.stat;
  return seen;
}

/// Learns the time once, whatever number of claims wait for it. Errors: see `once_per`.
awaitable<error_code> once_state::prepare() {
  if (time_.is_known()) co_return error_code();
  auto turn = co_await learning_.enter(get_scheduler());
  if (!turn) co_return asio::error::operation_aborted;
  for (int round = 0; round < most_rounds; ++round) {
    if (time_.is_known()) co_return error_code();
    auto error = co_await learn_time();
    if (error == errc::no_node) error = co_await make_root();
    if (error) co_return error;
  }
  co_return errc::busy;
}

/// The clock has a name that no other recipe uses, so the write can be sent before the data of the path is known.
awaitable<error_code> once_state::learn_time() {
  std::vector<backend::request> both{make_request(opcode::set, where_.clock()), make_request(opcode::get, where_.root)};
  auto replies = co_await session_->perform_all(std::move(both));
  const auto& clock = replies[0];
  const auto& root = replies[1];
  if (root.error) co_return root.error;
  if (root.data.empty()) {  // somebody needed a path
    auto fill = write_of(opcode::set, where_.root, serialize_period(where_.per), root.stat.version);
    auto filled = co_await session_->perform(std::move(fill), retry::always);
    co_return is_write_conflict(filled.error) ? error_code() : filled.error;
  }
  const auto per = parse_period(root.data);
  if (!per) co_return errc::foreign_data;
  if (*per != where_.per) co_return errc::size_mismatch;
  if (!clock.error) time_.observe(clock.stat.mtime, session_->now());
  co_return clock.error;
}

awaitable<error_code> once_state::make_root() {
  auto made =
      co_await create_with_parents(session_, write_of(opcode::create, where_.root, serialize_period(where_.per)));
  if (made.error && made.error != errc::node_exists && !may_have_happened(made.error)) co_return made.error;
  auto clock = co_await session_->perform(make_request(opcode::create, where_.clock()), retry::always);
  co_return is_write_conflict(clock.error) ? error_code() : clock.error;
}

/// Behind a lost reply the read tells whether the intent is still there.
awaitable<outcome<>> once_state::withdraw(once_intent what) {
  if (!what.is_new) co_return outcome<>(errc::bad_arguments);
  once_record mine{what.key, what.id, what.guid, what.note, true};
  const auto path = where_.intent(what.period, what.key);
  std::vector<backend::request> writes{write_of(opcode::set, path, serialize(mine), what.version)};
  auto node = co_await write_and_look(std::move(writes));
  if (node.error) co_return outcome<>(node.error == errc::no_node ? error_code() : node.error);
  const auto found = parse_once_record(node.data);
  const bool is_there = found && found->guid == what.guid && !found->is_withdrawn;
  co_return outcome<>(is_there ? make_error_code(errc::foreign_data) : error_code());
}

awaitable<outcome<std::size_t>> once_state::clean() {
  auto error = co_await prepare();
  if (error) co_return outcome<std::size_t>(error, 0);
  auto look = make_request(opcode::children, where_.root);
  auto listed = co_await session_->perform(std::move(look), retry::always);
  if (listed.error) co_return outcome<std::size_t>(listed.error, 0);
  const std::chrono::milliseconds keep = options_.keep;
  std::size_t removed = 0;
  for (const auto& each : listed.children) {
    const auto number = once_place::period_named(each);
    const bool is_over = number && *number < where_.period_at(time_.stamp());
    if (!is_over || where_.end_of(*number) + keep.count() > time_.stamp()) continue;
    auto done = co_await remove_with_children(session_, where_.period(*number));
    removed += std::get<1>(done);
    if (std::get<0>(done)) co_return outcome<std::size_t>(std::get<0>(done), removed);
  }
  co_return outcome<std::size_t>(error, removed);
}

/// Processes that have begun together do not go on cleaning together.
void once_state::clean_if_due() {
  if (session_->now() < clean_at_) return;
  const auto late = std::chrono::milliseconds(get_scheduler()->world->random() % 600'000);
  clean_at_ = session_->now() + 1h + late;
  launch_detached(session_->strand(), owning(shared_from_this(), &once_state::clean));
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds longest_period = 24h * 366;

void require_period(bool is_right, const char* field, std::chrono::milliseconds value, const char* wanted) {
  if (is_right) return;
  throw std::invalid_argument(std::string("once_per_options::") + field + " is " + std::to_string(value.count()) +
                              " ms; it must be from " + wanted);
}

}  // namespace

once_per::once_per(session over, std::string path, once_per_options options) : session_(std::move(over)) {
  require_path("once_per path", path);
  if (path == "/") reject("once_per path", path, "it is the root");
  require_id("once_per_options::id", options.id);
  const std::chrono::milliseconds per = options.per;
  const std::chrono::milliseconds keep = options.keep;
  require_period(per >= 1s && per <= longest_period, "per", per, "1 s to 366 days");
  require_period(keep >= 0s && keep <= longest_period, "keep", keep, "0 to 366 days");
  state_ = std::make_shared<once_state>(require_session(session_), std::move(path), std::move(options));
}

const std::string& once_per::path() const noexcept { return state_ ? state_->path() : no_path(); }

const once_per_options& once_per::options() const noexcept {
  static const once_per_options defaults;
  return state_ ? state_->options() : defaults;
}

void once_per::start_claim(handler_for<void(error_code, once_intent)> h, state_ptr state, std::string key,
                           std::string note) {
  launch(std::move(h), std::move(state), &once_state::claim, std::move(key), std::move(note));
}

void once_per::start_withdraw(handler_for<void(error_code)> h, state_ptr state, once_intent what) {
  launch(std::move(h), std::move(state), &once_state::withdraw, std::move(what));
}

void once_per::start_clean(handler_for<void(error_code, std::size_t)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &once_state::clean);
}

}  // namespace zkrecipes
