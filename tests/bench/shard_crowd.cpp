#include "shard_crowd.hpp"

#include <algorithm>

#include "asynchronous.hpp"

namespace bench {

using namespace zkrecipes;

/// Owns its shard until the term is to end.
class shard_crowd::idle_career : public leader_career {
 public:
  idle_career(shard_crowd& of, std::size_t member, std::uint32_t shard) : all_(of), member_(member), shard_(shard) {}

  career_traits traits() const override { return {.hand_over_deadline = std::chrono::milliseconds(0)}; }
  asio::awaitable<void> inaugurate(term) override {
    auto& log = all_.log_[shard_];
    ++log.begun;
    ++all_.begun_;
    all_.last_begun_ = clock::now();
    const bool had_owner = log.ended != clock::time_point();
    if (had_owner) all_.longest_gap_ = std::max(all_.longest_gap_, clock::now() - log.ended);
    log.ended = {};
    log.owner = member_;
    ++all_.owned_;
    ++all_.at(member_).owned;
    co_return;
  }
  asio::awaitable<void> execute(term present) override { co_await present.async_ending(tuple); }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
  asio::awaitable<void> ended(term, term_end) override {
    auto& log = all_.log_[shard_];
    const bool is_last = log.owner == member_ && log.ended == clock::time_point();
    if (is_last) log.ended = clock::now();
    --all_.owned_;
    --all_.at(member_).owned;
    co_return;
  }

 private:
  shard_crowd& all_;
  std::size_t member_;
  std::uint32_t shard_;
};

shard_crowd::shard_crowd(asio::io_context& io, std::vector<std::string> hosts, std::string path, std::uint32_t shards)
    : io_(io), hosts_(std::move(hosts)), path_(std::move(path)), shards_(shards), log_(shards) {}

void shard_crowd::connect(std::size_t members) {
  while (members_.size() < members) {
    shard_group_options with;
    with.id = "member-" + std::to_string(members_.size());
    with.shards = shards_;
    with.grace = std::chrono::seconds(60);
    const session_options options{.hosts = hosts_[members_.size() % hosts_.size()],
                                  .timeout = std::chrono::seconds(30)};
    members_.push_back(std::make_unique<member>(session(io_.get_executor(), options), path_, with));
  }
  run_until("the sessions", [&] {
    return std::ranges::all_of(members_, [](const auto& each) {
      const auto state = each->zk.status().state;
      return state == session_state::connected || state == session_state::closed;
    });
  });
}

void shard_crowd::start(std::size_t which) {
  auto& one = at(which);
  one.runs = true;
  auto make = [this, which](const shard& of) { return std::make_unique<idle_career>(*this, which, of.number); };
  one.group.async_run(make, [&one](error_code) { one.runs = false; });
}

void shard_crowd::close(std::size_t which) {
  for (auto& each : log_) {
    const bool is_its = each.owner == which && each.ended == clock::time_point();
    if (is_its) each.ended = clock::now();
  }
  closed_ = clock::now();
  at(which).zk.async_close([this](error_code) { closed_ = clock::now(); });
}

double shard_crowd::until_last_begun_ms() const {
  const std::chrono::duration<double, std::milli> taken = last_begun_ - closed_;
  return taken.count();
}

double shard_crowd::round_trip_ms() {
  std::vector<double> all;
  for (int i = 0; i < 21; ++i) {
    const auto begin = clock::now();
    bool is_done = false;
    at(0).zk.async_exists(path_, [&](error_code, const auto&...) { is_done = true; });
    run_until("a round trip", [&] { return is_done; });
    all.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void shard_crowd::run_until(const char* what, const std::function<bool()>& holds) {
  const bool in_time = zkrecipes::test::run_until(io_, holds, std::chrono::minutes(5));
  if (!in_time) throw std::runtime_error(std::string("shards: ") + what + " took more than five minutes");
}

double shard_crowd::longest_gap_ms() {
  const std::chrono::duration<double, std::milli> gap = std::exchange(longest_gap_, {});
  return gap.count();
}

std::optional<std::size_t> shard_crowd::planner() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->runs && members_[i]->group.status().is_planner) return i;
  }
  return std::nullopt;
}

std::uint64_t shard_crowd::requests() const {
  std::uint64_t all = 0;
  for (const auto& each : members_) all += each->zk.counters().requests;
  return all;
}

void shard_crowd::end() {
  for (auto& each : members_) each->group.stop();
  run_until("the end", [&] { return std::ranges::none_of(members_, [](const auto& each) { return each->runs; }); });
  members_.clear();
  session cleaner(io_.get_executor(), {.hosts = hosts_.front()});
  bool is_removed = false;
  cleaner.async_remove_with_children(path_, [&](error_code, std::size_t) { is_removed = true; });
  run_until("the removal", [&] { return is_removed; });
}

}  // namespace bench
