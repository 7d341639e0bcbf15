#include "shards/moving_shards.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "election/term_record.hpp"
#include "shards/shard_seat.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<error_code> moving_shards::look(shard_assignment& plan, lease_clock::time_point& next) {
  const auto moves = plan.moves_under_way();
  std::set<std::uint32_t> present;
  std::vector<std::uint32_t> outdated;
  for (const auto& each : moves) {
    present.insert(each.shard);
    const auto& hint = slots_[each.shard].hint;
    if (!hint || hint->fired()) outdated.push_back(each.shard);
  }
  std::erase_if(slots_, [&](const auto& each) { return !present.contains(each.first); });
  error_code error;
  if (!outdated.empty()) error = co_await read(std::move(outdated));
  const auto now = group_->session->now();
  for (const auto& each : moves) {
    auto& known = slots_[each.shard];
    if (known.owner == each.to) plan.mark_begun(each.shard);
    const bool is_news = std::exchange(known.to, each.to) != each.to;
    if (known.free_since == never) continue;
    if (is_news) known.free_since = now;
    const auto overdue_at = known.free_since + group_->session->options().timeout;
    if (now >= overdue_at) {
      plan.mark_stuck(each.shard);
    } else {
      next = std::min(next, overdue_at);
    }
  }
  co_return error;
}

/// Everything that can be learned is learned, also if some of it can not.
awaitable<error_code> moving_shards::read(std::vector<std::uint32_t> shards) {
  const auto& session = group_->session;
  std::vector<backend::request> looks;
  for (const auto each : shards) {
    auto path = group_->where.record(each);
    slots_[each].hint = session->arm(watch_kind::data, path, changed_);
    looks.push_back(make_request(opcode::get, std::move(path), true));
  }
  auto answers = co_await session->perform_all(std::move(looks));
  error_code error;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto refused = accept(shards[i], answers[i]);
    if (refused) error = refused;
  }
  co_return error;
}

/// A record that may not be read tells nothing: then the shard counts as one that is free.
error_code moving_shards::accept(std::uint32_t shard, const backend::reply& node) {
  auto& seen = slots_[shard];
  seen.owner.clear();
  const bool is_told = !node.error || node.error == errc::no_node || node.error == errc::no_auth;
  if (node.error && node.error != errc::no_auth) seen.hint.reset();
  if (!is_told) return node.error;
  const auto record = node.error ? std::nullopt : parse_record(node.data);
  if (record && !record->finished()) seen.owner = member_of(*record);
  if (!seen.owner.empty()) {
    seen.free_since = never;
  } else if (seen.free_since == never) {
    seen.free_since = group_->session->now();
  }
  return {};
}

}  // namespace zkrecipes::detail
