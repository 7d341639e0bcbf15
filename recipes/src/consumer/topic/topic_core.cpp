#include "topic/topic_core.hpp"

#include <algorithm>
#include <utility>

#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "queue/dead_letter_folder.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using lags = std::vector<source_lag>;
using shard_views = std::vector<topic_shard>;
using topic_replies = std::vector<backend::reply>;

constexpr std::uint32_t shards_at_once = 100;

}  // namespace

topic_core::topic_core(topic_frame_ptr frame) : source_core(frame, &is_topic_message), topic_(std::move(frame)) {}

/// A node that is missing is an answer, not an error.
awaitable<outcome<topic_replies>> topic_core::ask(std::vector<backend::request> what) {
  auto replies = co_await topic_->session->perform_all(std::move(what));
  const auto bad =
      std::ranges::find_if(replies, [](const auto& each) { return each.error && each.error != errc::no_node; });
  const auto error = bad == replies.end() ? error_code() : bad->error;
  co_return outcome<topic_replies>(error, std::move(replies));
}

/// A place behind all batches would pass over messages that are yet to be put.
awaitable<outcome<std::string>> topic_core::record_at(std::uint32_t shard, source_position where, std::string seek) {
  log_position position;
  position.seek = std::move(seek);
  if (where.what() == source_position::kind::at) position.next = parse_message_name(where.name());
  if (where.what() == source_position::kind::begin) co_return outcome<std::string>(error_code(), serialize(position));
  std::vector<backend::request> list{make_request(opcode::children, topic_->where.shard(shard))};
  auto latest = co_await perform_latest(topic_->session, std::move(list), persistence::limited);
  auto& [error, listed] = latest;
  if (!error && listed[0].error != errc::no_node) error = listed[0].error;
  const auto batches = error ? std::vector<batch_name>() : batches_of(listed[0].children);
  const auto end = batches.empty() ? std::nullopt : std::optional(message_place{batches.back().number + 1, 0});
  if (!end || !position.next || *position.next > *end) position.next = end;
  co_return outcome<std::string>(error, serialize(position));
}

awaitable<error_code> topic_core::read_lags(std::string group, lags& into) {
  error_code error;
  const auto count = topic_->shards;
  for (std::uint32_t from = 0; !error && from < count; from += shards_at_once) {
    error = co_await add_lags(from, std::min(from + shards_at_once, count), group, into);
  }
  co_return error;
}

awaitable<error_code> topic_core::add_lags(std::uint32_t from, std::uint32_t to, const std::string& group, lags& into) {
  const auto& where = topic_->where;
  std::vector<backend::request> looks;
  for (auto shard = from; shard < to; ++shard) {
    // The position first: what is consumed between the two reads counts as lag.
    looks.push_back(make_request(opcode::get, where.position(shard, group)));
    looks.push_back(make_request(opcode::children, where.shard(shard)));
  }
  auto seen = co_await ask(std::move(looks));
  auto& [error, replies] = seen;
  std::vector<backend::request> firsts;
  std::vector<std::size_t> whose;
  for (auto shard = from; !error && shard < to; ++shard) {
    const auto& position_node = replies[2 * (shard - from)];
    const auto position = position_node.error ? log_position() : parse_position(position_node.data);
    if (!position) co_return errc::foreign_data;
    source_lag lag;
    lag.shard = shard;
    for (const auto& each : batches_of(replies[2 * (shard - from) + 1].children)) {
      const auto left = position->count_left(each);
      if (left == 0) continue;
      if (lag.batches == 0) firsts.push_back(make_request(opcode::exists, batch_path(where, shard, each.name)));
      if (lag.batches == 0) whose.push_back(into.size());
      ++lag.batches;
      lag.messages += left;
    }
    into.push_back(lag);
  }
  if (error || firsts.empty()) co_return error;
  auto looked = co_await ask(std::move(firsts));
  const auto now = get_scheduler()->world->wall_clock().time_since_epoch();
  for (std::size_t i = 0; i < whose.size() && !std::get<0>(looked); ++i) {
    const auto& node = std::get<1>(looked)[i];
    const auto since = std::chrono::milliseconds(node.stat.ctime);
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now) - since;
    if (!node.error) into[whose[i]].oldest = std::max(age, std::chrono::milliseconds(0));
  }
  co_return std::get<0>(looked);
}

awaitable<outcome<shard_views>> topic_core::shards() {
  shard_views all;
  auto error = co_await find_record(topic_);
  const auto count = topic_->shards;
  for (std::uint32_t from = 0; !error && from < count; from += shards_at_once) {
    const auto to = std::min(from + shards_at_once, count);
    std::vector<backend::request> looks;
    for (auto shard = from; shard < to; ++shard) {
      looks.push_back(make_request(opcode::children, topic_->where.shard(shard)));
      looks.push_back(make_request(opcode::children, topic_->where.positions(shard)));
    }
    auto seen = co_await ask(std::move(looks));
    auto& [failure, replies] = seen;
    error = failure;
    for (auto shard = from; !error && shard < to; ++shard) {
      topic_shard view;
      view.shard = shard;
      for (const auto& each : batches_of(replies[2 * (shard - from)].children)) {
        ++view.batches;
        view.messages += each.count;
      }
      view.groups = std::move(replies[2 * (shard - from) + 1].children);
      std::ranges::sort(view.groups);
      all.push_back(std::move(view));
    }
  }
  co_return outcome<shard_views>(error, std::move(all));
}

/// The letter of another source would become a batch that nobody consumes. One transaction: a letter that is still
/// there proves that nothing was done.
awaitable<outcome<>> topic_core::put_back(std::uint32_t, std::string group, dead_letter which) {
  const auto all = revival_of(topic_->where, topic_->shards, group, which);
  if (!all) co_return outcome<>(errc::bad_arguments);
  const auto other = co_await find_record(topic_);
  if (other) co_return outcome<>(other);
  const auto letter = join(topic_->where.dead(group), which.name);
  for (bool was_sent = false;;) {
    auto result = co_await topic_->session->perform(backend::make_multi(*all), retry::once);
    auto error = result.error;
    if (error == errc::no_node && was_sent) co_return outcome<>(errc::outcome_unknown);
    const bool is_maybe_done = may_have_happened(error) && result.sent;
    was_sent = was_sent || is_maybe_done;
    if (is_maybe_done) error = co_await check_letter(topic_->session, letter);
    const bool is_undone = may_have_happened(result.error) && (!error || !is_maybe_done);
    if (!is_undone || error == errc::session_expired) co_return outcome<>(error);
    error = co_await topic_->session->wait_connected(nullptr, topic_->session->retry_deadline());
    if (error) co_return outcome<>(error == errc::timed_out ? backend::loss_of(true, was_sent) : error);
  }
}

}  // namespace zkrecipes::detail
