#include "cluster/level_walk.hpp"

#include <algorithm>
#include <utility>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {

level_walk::level_walk(const std::string& top, std::size_t most) : most_(most) {
  levels_.emplace_back().push_back({top, 0});
}

void level_walk::plan(const place& parent, const std::vector<std::string>& names, std::size_t first) {
  const auto count = std::min(names.size(), most_planned - planned_);
  planned_ += count;
  if (count < names.size()) leave(parent.path, names.size() - count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto level = first + i / share;
    if (levels_.size() <= level) levels_.resize(level + 1);
    levels_[level].push_back({join(parent.path, names[i]), parent.depth + 1});
  }
}

boost::asio::awaitable<void> level_walk::run(visitor visit, std::size_t last) {
  for (std::size_t level = 0; level < levels_.size() && level <= last; ++level) {
    const auto present = std::exchange(levels_[level], {});
    const auto count = std::min(present.size(), room());
    visited_ += count;
    const auto visit_one = [&](std::size_t i) { return visit(present[i], level); };
    co_await for_each_index(count, requests_at_a_time, visit_one);
    for (auto i = count; i < present.size(); ++i) leave(parent_of(present[i].path));
  }
}

}  // namespace zkadmin
