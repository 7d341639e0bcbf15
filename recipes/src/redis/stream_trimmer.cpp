#include "redis/stream_trimmer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "redis/stream_position.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

using entry_ids = std::vector<stream_id>;

constexpr auto pause_between_looks = 1s;

}  // namespace

stream_trimmer::stream_trimmer(redis_frame_ptr frame, std::uint32_t shard, std::string group)
    : frame_(std::move(frame)), shard_(shard), group_(std::move(group)) {}

void stream_trimmer::reset() {
  consumed_ = seen_ = {};
  next_look_ = {};
}

awaitable<entry_ids> stream_trimmer::consumed_by_all() {
  const auto now = frame_->session->now();
  const auto& groups = frame_->options.groups;
  const bool has_news = seen_ < consumed_ && now >= next_look_;
  if (!has_news || std::ranges::find(groups, group_) == groups.end()) co_return entry_ids();  // the others trim
  next_look_ = now + pause_between_looks;
  seen_ = consumed_;
  co_return co_await read_positions();
}

awaitable<bool> stream_trimmer::is_consumed_by_all(stream_id last) {
  const auto all = co_await read_positions();
  co_return !all.empty() && all.front() >= last;
}

/// None if one of them is not there. Behind a catch-up: a seek that is complete is seen.
awaitable<entry_ids> stream_trimmer::read_positions() {
  std::vector<backend::request> looks;
  for (const auto& each : frame_->options.groups)
    looks.push_back(make_request(opcode::get, frame_->where.position(shard_, each)));
  auto read = co_await perform_latest(frame_->session, std::move(looks), persistence::limited);
  const auto& [error, replies] = read;
  entry_ids all;
  for (const auto& each : replies) {
    const auto position = each.error ? std::nullopt : parse_stream_position(each.data);
    if (!position || position->last == stream_id()) co_return entry_ids();
    all.push_back(position->last);
  }
  if (error) all.clear();
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  co_return all;
}

}  // namespace zkrecipes::detail
