#include "source/source_core.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/source_base.hpp>

#include "format/json_object.hpp"
#include "queue/dead_letter_folder.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"
#include "shards/shard_name.hpp"
#include "source/log_source.hpp"

namespace zkrecipes::detail {

std::string source_layout::shard(std::uint32_t number) const { return join(root, shard_name(number)); }

std::string source_layout::positions(std::uint32_t shard_number) const { return join(shard(shard_number), "_at"); }

std::string source_layout::position(std::uint32_t shard_number, std::string_view group) const {
  return join(positions(shard_number), group);
}

std::string source_layout::marks(std::uint32_t shard_number, std::string_view group) const {
  return join(join(shard(shard_number), "_repeats"), group);
}

std::string source_layout::producers() const { return join(root, "_producers"); }

std::string source_layout::dead(std::string_view group) const { return join(join(root, "_dead"), group); }

using backend::opcode;

namespace {

error_code compare_records(const std::string& theirs, const json_object& ours) {
  const auto read = json_object::parse(theirs);
  if (!read || !read->integer("count")) return errc::foreign_data;
  for (const auto& each : ours.names()) {
    if (each != "count" && read->raw(each) != ours.raw(each)) return errc::foreign_data;
  }
  return read->integer("count") == ours.integer("count") ? error_code() : make_error_code(errc::size_mismatch);
}

}  // namespace

bool source_frame::is_group(std::string_view name) const {
  return only_group.empty() ? name_problem(name).empty() : name == only_group;
}

json_object record_of_source(std::string_view kind, std::uint32_t shards) {
  auto record = json_object::of_kind(kind);
  record.set("count", std::int64_t{shards}).set("hash", "crc32");
  return record;
}

backend::request request_of_record(const source_frame& frame) { return make_request(opcode::get, frame.where.root); }

error_code compare_record(const source_frame& frame, const backend::reply& found) {
  if (found.error || found.data.empty()) return found.error == errc::no_node ? error_code() : found.error;
  return compare_records(found.data, frame.record);
}

awaitable<error_code> find_record(source_frame_ptr frame) {
  auto found = co_await frame->session->perform(request_of_record(*frame), retry::always);
  if (found.error) co_return found.error;
  if (found.data.empty()) co_return errc::no_node;
  co_return compare_records(found.data, frame->record);
}

awaitable<error_code> agree_on_record(source_frame_ptr frame) {
  for (;;) {
    auto found = co_await frame->session->perform(request_of_record(*frame), retry::always);
    if (found.error == errc::no_node) {
      auto error = co_await frame->session->ensure_path(frame->where.root);
      if (error) co_return error;
      continue;
    }
    if (found.error) co_return found.error;
    if (!found.data.empty()) co_return compare_records(found.data, frame->record);
    auto write = make_request(opcode::set, frame->where.root);
    write.data = frame->record.to_text();
    write.version = found.stat.version;
    auto written = co_await frame->session->perform(std::move(write), retry::always);
    const bool is_quicker = written.error == errc::bad_version || written.error == errc::no_node;
    if (!is_quicker) co_return written.error;  // else another client has written or removed it, or we have
  }
}

namespace {

// How a group is moved to another place of a log.

awaitable<outcome<bool>> has_moved(core_ptr session, std::string path, std::string seek) {
  std::vector<backend::request> look{make_request(opcode::get, std::move(path))};
  auto latest = co_await perform_latest(session, std::move(look), persistence::limited);
  auto& [error, seen] = latest;
  if (!error && seen[0].error != errc::no_node) error = seen[0].error;
  const auto position = error || seen[0].error ? std::nullopt : json_object::parse(seen[0].data);
  co_return outcome<bool>(error, position && position->text("seek") == seek);
}

/// The position is written several times at once, because a consumer may know a low version of one that was removed.
backend::request make_anew(const std::string& path, const std::string& text, std::uint64_t random) {
  transaction all;
  all.create(path, "");
  const auto writes = 2 + random % 62;
  for (std::uint64_t i = 0; i < writes; ++i) all.set(path, text);
  return backend::make_multi(all);
}

/// Writes a position whatever its version, so that the next commit of a consumer is refused. `text` has the GUID `seek`
/// in its field of that name: it tells after a lost reply whether the position was written, because a second write
/// would move the consumer back once more. Errors: those of `core::perform`.
awaitable<error_code> write_position(core_ptr session, std::string path, std::string text, std::string seek) {
  const auto deadline = session->retry_deadline();
  const auto create = make_anew(path, text, session->get_scheduler()->world->random());
  auto write = make_request(opcode::set, path);
  write.data = std::move(text);
  for (;;) {
    auto written = co_await session->perform(write, retry::once, nullptr, deadline);
    if (written.error == errc::no_node) {
      const auto error = co_await session->ensure_path(std::string(parent_of(path)));
      if (error) co_return error;
      written = co_await session->perform(create, retry::once, nullptr, deadline);
      if (is_write_conflict(written.error)) continue;
    }
    if (!is_reply_lost(written.error) || session->now() >= deadline) co_return written.error;
    if (!written.sent) continue;
    auto looked = co_await has_moved(session, path, seek);
    const auto& [error, is_done] = looked;
    if (error || is_done) co_return error;
  }
}

using source_lags = std::vector<source_lag>;
using letter_list = std::vector<dead_letter>;

}  // namespace

awaitable<outcome<>> source_core::seek(std::uint32_t shard, std::string group, source_position where) {
  const bool is_place = where.what() != source_position::kind::at || (is_message_ && is_message_(where.name()));
  if (shard >= frame_->shards || !frame_->is_group(group) || !is_place) co_return outcome<>(errc::bad_arguments);
  auto error = co_await agree_on_record(frame_);
  if (error) co_return outcome<>(error);
  const auto guid = frame_->session->make_guid();
  auto found = co_await record_at(shard, std::move(where), guid);
  auto& [failure, text] = found;
  if (failure) co_return outcome<>(failure);
  auto path = frame_->where.position(shard, group);
  error = co_await write_position(frame_->session, std::move(path), std::move(text), guid);
  co_return outcome<>(error);
}

awaitable<outcome<source_lags>> source_core::lag(std::string group) {
  source_lags all;
  if (!frame_->is_group(group)) co_return outcome<source_lags>(errc::bad_arguments, std::move(all));
  auto error = co_await find_record(frame_);
  if (!error) error = co_await read_lags(std::move(group), all);
  co_return outcome<source_lags>(error, std::move(all));
}

awaitable<outcome<letter_list>> source_core::dead_letters(std::string group) {
  if (!frame_->is_group(group)) return refuse<letter_list>(errc::bad_arguments);
  return read_letters(frame_->session, frame_->where.dead(group));
}

awaitable<outcome<>> source_core::revive(std::string group, dead_letter which) {
  const auto shard = is_message_ ? shard_of_letter(which.item, is_message_) : std::nullopt;
  const bool is_named = !which.name.empty() && which.name.find('/') == which.name.npos;
  if (!shard || *shard >= frame_->shards || !is_named || !frame_->is_group(group)) return refuse<>(errc::bad_arguments);
  return put_back(*shard, std::move(group), std::move(which));
}

awaitable<outcome<>> source_core::put_back(std::uint32_t shard, std::string group, dead_letter which) {
  if (which.missing_bytes != 0) co_return outcome<>(errc::too_large);
  auto error = co_await find_record(frame_);  // of another source, the message would go where nobody consumes it
  if (error) co_return outcome<>(error);
  const auto folder = frame_->where.dead(group);
  const auto name = which.name;
  auto look = make_request(opcode::exists, join(folder, name));
  auto seen = co_await frame_->session->perform(std::move(look), retry::always);
  if (seen.error) co_return outcome<>(seen.error);
  error = co_await put(shard, std::move(which), seen.stat.czxid);
  if (error) co_return outcome<>(error);
  auto removed = co_await discard_letter(frame_->session, folder, name);
  const bool has_gone = std::get<0>(removed) == errc::no_node || std::get<0>(removed) == errc::outcome_unknown;
  co_return has_gone ? outcome<>(error_code()) : removed;
}

awaitable<outcome<>> source_core::discard(std::string group, dead_letter which) {
  if (!frame_->is_group(group) || which.name.empty()) return refuse<>(errc::bad_arguments);
  return discard_letter(frame_->session, frame_->where.dead(group), std::move(which.name));
}

awaitable<outcome<std::string>> source_core::record_at(std::uint32_t, source_position, std::string) {
  return refuse<std::string>(errc::bad_arguments);
}

awaitable<error_code> source_core::read_lags(std::string, source_lags&) { co_return errc::bad_arguments; }

awaitable<error_code> source_core::put(std::uint32_t, dead_letter, std::int64_t) { co_return errc::bad_arguments; }

void require_shard(const source_base& of, const std::string& kind, std::uint32_t shard) {
  if (!of.get_core()) throw std::invalid_argument(kind + ": an object that was made by default has no messages");
  if (shard >= of.shards()) throw std::invalid_argument(kind + ": there is no shard " + shard_name(shard));
}

void option_checks::refuse(const std::string& field, const std::string& why) const {
  throw std::invalid_argument(owner_ + "::" + field + ": " + why);
}

void option_checks::require(bool is_good, const std::string& field, const std::string& why) const {
  if (!is_good) refuse(field, why);
}

void option_checks::require_shards(std::uint32_t shards) const {
  require(shards >= 1 && shards <= most_shards, "shards", "it must be 1 to 10 000");
}

void option_checks::require_pauses(const retry_policy& retry) const {
  using namespace std::chrono_literals;
  require(retry.first_pause >= 1ms && retry.first_pause <= 1h, "retry.first_pause", "it must be 1 ms to 1 h");
  const bool is_pause = retry.max_pause >= retry.first_pause && retry.max_pause <= 1h;
  require(is_pause, "retry.max_pause", "it must be first_pause to 1 h");
}

void source_operations::seek(handler<> h, core_ptr core, std::uint32_t shard, std::string group,
                             source_position where) {
  launch(std::move(h), std::move(core), &source_core::seek, shard, std::move(group), std::move(where));
}

void source_operations::lag(handler<std::vector<source_lag>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &source_core::lag, std::move(group));
}

void source_operations::dead_letters(handler<std::vector<dead_letter>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &source_core::dead_letters, std::move(group));
}

void source_operations::revive(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &source_core::revive, std::move(group), std::move(which));
}

void source_operations::discard(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &source_core::discard, std::move(group), std::move(which));
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

source_base::source_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& source_base::path() const noexcept { return core_ ? core_->frame()->where.root : no_path(); }

std::uint32_t source_base::shards() const noexcept { return core_ ? core_->frame()->shards : 1; }

}  // namespace zkrecipes
