// Steps of the tracks of a shared balance, beside workers that write a node at each step. Measured in turns.
#include <cstdint>

#include "asynchronous.hpp"
#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

namespace {

constexpr std::size_t paced_processes = 2;
constexpr int granules_of_a_round = 100;
constexpr int sets_of_a_round = 200;
constexpr const char* pace_root = "/paces";

using sessions = std::vector<zkrecipes::session>;

awaitable<sessions> open_sessions() {
  auto ex = co_await asio::this_coro::executor;
  const zkrecipes::session_options options{.hosts = zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts())};
  sessions all;
  for (std::size_t i = 0; i < paced_processes; ++i) {
    all.emplace_back(ex, options);
    co_await all.back().async_connected(use_awaitable);
  }
  co_await all.front().async_ensure_path(pace_root, use_awaitable);
  for (std::size_t i = 0; i < paced_processes; ++i) {
    co_await all.front().async_ensure_path(pace_root + std::string("/set-") + std::to_string(i), use_awaitable);
  }
  co_return all;
}

awaitable<bool> close_sessions(sessions& all) {
  co_await all.front().async_remove_with_children(pace_root, use_awaitable);
  for (auto& each : all) co_await each.async_close(use_awaitable);
  co_return true;
}

/// One member for each session, which takes part from the beginning to the end.
class paced_members {
 public:
  paced_members(asio::io_context& io, const sessions& over, std::uint64_t range) : io_(io) {
    for (const auto& each : over) {
      auto& made = *all_.emplace_back(std::make_unique<member>(each, range));
      made.pace.async_run([&made](zkrecipes::error_code) { made.has_ended = true; });
      made.track = made.pace.track("track");
    }
    until([](const member& each) { return each.pace.status().is_member; });
  }
  ~paced_members() {
    for (auto& each : all_) each->pace.stop();
    until([](const member& each) { return each.has_ended; });
  }

  void walk(int steps) {
    for (auto& each : all_) {
      each->left = steps;
      asio::co_spawn(io_, go(*each), asio::detached);
    }
    until([](const member& each) { return each.left == 0; });
  }

 private:
  struct member {
    member(const zkrecipes::session& over, std::uint64_t range)
        : pace(over, pace_root + std::string("/balance-") + std::to_string(range), {.id = "bench", .range = range}) {}
    zkrecipes::shared_balance pace;
    zkrecipes::shared_balance_track track{};
    int left = 0;
    bool has_ended = false;
  };

  static awaitable<void> go(member& who) {
    for (; who.left > 0; --who.left) {
      if (!who.track.try_move()) co_await who.track.async_move(use_awaitable);
    }
  }
  void until(const std::function<bool(const member&)>& holds) {
    const auto all_do = [&] {
      for (const auto& each : all_) {
        if (!holds(*each)) return false;
      }
      return true;
    };
    if (!zkrecipes::test::run_until(io_, all_do, std::chrono::minutes(2)))
      throw std::runtime_error("shared moves: in vain");
  }

  asio::io_context& io_;
  std::vector<std::unique_ptr<member>> all_;
};

awaitable<void> set_each_step(zkrecipes::session over, std::size_t which, int& left) {
  const auto path = pace_root + std::string("/set-") + std::to_string(which);
  for (; left > 0; --left) co_await over.async_set(path, "step", zkrecipes::any_version, use_awaitable);
}

double sets_a_second(asio::io_context& io, const sessions& over) {
  std::vector<int> left(over.size(), sets_of_a_round);
  const auto begin = clock::now();
  for (std::size_t i = 0; i < over.size(); ++i) {
    asio::co_spawn(io, set_each_step(over[i], i, left[i]), asio::detached);
  }
  const auto is_done = [&] { return left == std::vector<int>(over.size(), 0); };
  if (!zkrecipes::test::run_until(io, is_done, std::chrono::minutes(2)))
    throw std::runtime_error("shared moves: in vain");
  return sets_of_a_round / ms_since(begin) * 1000;
}

}  // namespace

/// In the column of the bare C client: a plain `set` of our own library at each step, which says nothing of the others.
std::vector<row> shared_moves(const plan& what) {
  asio::io_context io;
  auto over = zkrecipes::test::run_coroutine(io, open_sessions());
  std::vector<row> rows;
  for (const std::uint64_t range : {10u, 100u, 1000u}) {
    paced_members members(io, over, range);
    const auto steps = granules_of_a_round * static_cast<int>(range / 4);
    const auto ours = [&](const std::string&) {
      const auto begin = clock::now();
      members.walk(steps);
      return std::optional(steps / ms_since(begin) * 1000);
    };
    const auto plain = [&](const std::string&) { return std::optional(sets_a_second(io, over)); };
    rows.push_back(measure_in_turns("steps of a track, two processes, range " + std::to_string(range), per_second,
                                    {{&row::ours, ours}, {&row::bare, plain}}, what.rounds));
  }
  zkrecipes::test::run_coroutine(io, close_sessions(over));
  return rows;
}

}  // namespace bench
