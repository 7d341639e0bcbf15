#include "redis/stream_trimmer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "redis/stream_position.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

constexpr auto pause_between_looks = 1s;

}  // namespace

stream_trimmer::stream_trimmer(redis_frame_ptr frame, std::uint32_t shard, std::string group)
    : frame_(std::move(frame)), shard_(shard), group_(std::move(group)) {}

void stream_trimmer::reset() {
  consumed_ = seen_ = {};
  next_look_ = {};
}

awaitable<std::vector<stream_id>> stream_trimmer::consumed_by_all() {
  const auto now = frame_->broker.session->now();
  const bool has_news = seen_ < consumed_ && now >= next_look_;
  if (!has_news || frame_->options.groups.empty()) co_return std::vector<stream_id>();
  next_look_ = now + pause_between_looks;
  seen_ = consumed_;
  co_return co_await read_positions();
}

awaitable<std::vector<stream_id>> stream_trimmer::read_positions() {
  std::vector<stream_id> all{consumed_};
  std::vector<backend::request> looks;
  bool is_ours_named = false;
  for (const auto& each : frame_->options.groups) {
    if (each != group_) looks.push_back(make_request(opcode::get, frame_->where.position(shard_, each)));
    is_ours_named = is_ours_named || each == group_;
  }
  if (!is_ours_named) co_return std::vector<stream_id>();  // the others trim
  if (looks.empty()) co_return all;
  auto replies = co_await frame_->broker.session->perform_all(std::move(looks));
  for (const auto& each : replies) {
    const auto position = each.error ? std::nullopt : parse_stream_position(each.data);
    if (!position || position->last == stream_id()) co_return std::vector<stream_id>();
    all.push_back(position->last);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  co_return all;
}

}  // namespace zkrecipes::detail
