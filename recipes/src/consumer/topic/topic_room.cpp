#include "topic/topic_room.hpp"

#include <chrono>
#include <utility>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

constexpr std::int32_t most_batches = 40'000;  // their names take 880 KB of a reply
constexpr std::size_t batches_between_looks = 256;
constexpr auto look_when_full = 1s;

}  // namespace

error_code topic_room::refusal(std::uint32_t shard) const {
  const auto found = rooms_.find(shard);
  if (found == rooms_.end()) return {};
  if (found->second.is_used_up) return errc::sequence_exhausted;
  return found->second.is_full ? make_error_code(errc::full) : error_code();
}

void topic_room::record_batch(std::uint32_t shard, std::string_view name) {
  auto& which = rooms_[shard];
  ++which.put;
  const auto batch = parse_batch_name(name);
  which.is_used_up = !batch || is_exhausted(batch->number);
}

bool topic_room::is_due(const room& which) const {
  if (which.is_full) return topic_->session->now() >= which.next_look;
  return which.is_new || which.put >= batches_between_looks;
}

awaitable<void> topic_room::look() {
  std::vector<std::uint32_t> due;
  std::vector<backend::request> looks;
  for (const auto& [shard, which] : rooms_) {
    if (!is_due(which)) continue;
    due.push_back(shard);
    looks.push_back(make_request(opcode::exists, topic_->where.shard(shard)));
  }
  if (due.empty()) co_return;
  const auto& session = topic_->session;
  auto seen = co_await session->perform_all(std::move(looks));
  for (std::size_t i = 0; i < due.size(); ++i) {
    const bool is_told = !seen[i].error || seen[i].error == errc::no_node;
    if (!is_told) continue;
    auto& which = rooms_[due[i]];
    which.is_new = false;
    which.put = 0;
    which.is_full = !seen[i].error && seen[i].stat.num_children >= most_batches;
    which.is_used_up = which.is_used_up && !seen[i].error;  // a new folder begins anew
    which.next_look = session->now() + look_when_full;
  }
}

}  // namespace zkrecipes::detail
