#include "source/source_core.hpp"

#include "queue/dead_letter_folder.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "source/position_seek.hpp"
#include "source/source_letters.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

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

}  // namespace zkrecipes::detail
