#include "shard_observer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds interval(200);
constexpr int looks_for_a_line = 10;

zkrecipes::shard_group_options watcher_options(std::uint32_t shards) {
  zkrecipes::shard_group_options all;
  all.id = "director";
  all.shards = shards;
  return all;
}

const zkrecipes::group_member_view* find_node(const zkrecipes::shard_group_view& view, const std::string& node) {
  const auto found = std::ranges::find(view.members, node, &zkrecipes::group_member_view::node);
  return found == view.members.end() ? nullptr : &*found;
}

}  // namespace

shard_observer::shard_observer(zkrecipes::session session, std::uint32_t shards, shard_source& source,
                               std::function<void(const std::string&)> say)
    : session_(session), group_(session, group_path, watcher_options(shards)), source_(source), say_(std::move(say)) {}

asio::awaitable<void> shard_observer::run() {
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  asio::steady_timer pause(session_.get_executor());
  for (int looks = 1;; ++looks) {
    auto seen = co_await group_.async_view(token);
    if (zkrecipes::is_fatal(std::get<0>(seen))) co_return;
    if (!std::get<0>(seen)) on_view(std::move(std::get<1>(seen)));
    if (looks % looks_for_a_line == 0) {
      const auto left = co_await source_.lag();
      if (left) print_state(*left);
    }
    pause.expires_after(interval);
    co_await pause.async_wait(token);
  }
}

void shard_observer::on_view(zkrecipes::shard_group_view next) {
  print_members(next);
  auto members = view_.members;
  std::erase_if(members, [&](const auto& each) { return !find_node(next, each.node); });
  auto count = members.size();
  for (const auto& each : next.members) {
    if (seen_.insert(each.node).second) joins_.push_back(++count);
  }
  view_ = std::move(next);
}

void shard_observer::print_members(const zkrecipes::shard_group_view& next) {
  for (const auto& each : view_.members) {
    if (!find_node(next, each.node)) say_(each.id + " has left the group, or was taken for dead");
  }
  for (const auto& each : next.members) {
    if (!seen_.count(each.node)) say_(each.id + " has joined");
  }
}

void shard_observer::print_state(std::uint64_t lag) {
  std::string shares;
  for (const auto& each : view_.members) {
    if (!shares.empty()) shares += ", ";
    shares += each.id + ' ' + std::to_string(each.shards.size());
  }
  const auto moving = std::ranges::count_if(view_.shards, &zkrecipes::shard_view::is_moving);
  const auto text = std::to_string(owned()) + " of " + std::to_string(view_.count) + " shards at work (" + shares +
                    "), " + std::to_string(moving) + " moving, " + std::to_string(lag) + " messages wait";
  if (text != told_) say_(text);
  told_ = text;
}

const zkrecipes::group_member_view* shard_observer::find(const std::string& id) const {
  const zkrecipes::group_member_view* last = nullptr;  // one that has died may still be there beside its successor
  for (const auto& each : view_.members) {
    if (each.id == id) last = &each;
  }
  return last;
}

std::string shard_observer::node_of(const std::string& id) const {
  const auto* found = find(id);
  return found ? found->node : std::string();
}

std::size_t shard_observer::shards_of(const std::string& id) const {
  const auto* found = find(id);
  return found ? found->shards.size() : 0;
}

std::size_t shard_observer::owned() const {
  return static_cast<std::size_t>(std::ranges::count_if(view_.shards, [this](const zkrecipes::shard_view& each) {
    return each.phase == zkrecipes::term_phase::executing && !each.is_moving() && find_node(view_, each.assigned_to);
  }));
}

}  // namespace demo
