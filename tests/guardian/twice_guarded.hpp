// Many processes, each known to two guardians: one has the options that are the default, the other one looks for the
// early proof all the time.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "guardian/guarding.hpp"

namespace guardian::test {

struct twice_guarded : guarding {
  using body = std::function<void(const child::orders&)>;
  static constexpr std::chrono::milliseconds look_every{25};

  twice_guarded() {
    raise_descriptor_limit();
    start();
    auto with = options;
    with.socket.path = early_socket();
    with.early = {true, look_every};
    early.emplace(io, with, stub(ended_early), [this](std::string_view line) { log.emplace_back(line); });
    early->listen();
  }
  std::string early_socket() const { return folder.path + "/early.sock"; }

  /// So many processes that both guardians know. They do what `then` says after they were ordered to.
  void populate(std::int64_t count, const body& then) {
    for (std::int64_t id = 1; id <= count; ++id) leaders.push_back(make_known(id, then));
    run_until_all_reported('r');
  }
  void order_all() {
    for (const auto& each : leaders) each->order('g');
  }
  void signal_all(int number) {
    for (const auto& each : leaders) each->signal(number);
  }
  void run_until_all_reported(char what) {
    for (const auto& each : leaders) run_until_reported(*each, what);
  }
  void run_until_lines_have_ended() {
    run_until([&] { return guard->connection_count() + early->connection_count() == 0u; }, "the ends of connections");
  }
  /// Both guardians have had everything before their eyes that there was to see when this was called.
  void let_guardians_judge() {
    const auto id = static_cast<std::int64_t>(1'000'000 + ++others);
    const auto other = make_known(id, [](const child::orders& orders) { orders.wait(); });
    run_until_reported(*other, 'r');
    other->signal(SIGKILL);
    const auto is_it = [id](const session_of_the_dead& each) { return each.session.key.id == id; };
    run_until([&] { return std::ranges::any_of(ended, is_it) && std::ranges::any_of(ended_early, is_it); },
              "the end of another process");
    run_for(4 * look_every);
  }
  /// All processes live, and both guardians hold what they have told, and have ended nothing.
  void check_lives() {
    let_guardians_judge();
    for (const auto& each : leaders) BOOST_TEST_REQUIRE(each->is_alive());
    for (const auto* each : {&*guard, &*early}) {
      BOOST_TEST_REQUIRE(each->held().session_count() == leaders.size(), all_lines());
      BOOST_TEST_REQUIRE(each->held().term_count() == leaders.size(), all_lines());
    }
    BOOST_TEST_REQUIRE(ended.size() == others, all_lines());
    BOOST_TEST_REQUIRE(ended_early.size() == others, all_lines());
  }
  /// Waits until so many sessions have been ended by each guardian, and no session twice.
  void check_endings(std::size_t count) {
    run_until([&] { return ended.size() >= count && ended_early.size() >= count; }, "the ends of sessions");
    for (const auto* each : {&ended, &ended_early}) {
      std::set<std::int64_t> ids;
      for (const auto& one : *each) {
        ids.insert(one.session.key.id);
        BOOST_TEST(one.terms.size() == 1u);
      }
      BOOST_TEST(ids.size() == count);
      BOOST_TEST(each->size() == count);
    }
  }
  /// Once all processes are dead, nothing is held of them.
  void check_deaths() {
    check_endings(leaders.size() + others);
    run_until_lines_have_ended();
    BOOST_TEST(guard->held().process_count() == 0u);
    BOOST_TEST(early->held().process_count() == 0u);
  }

  std::vector<session_of_the_dead> ended_early;
  std::optional<agent> early;
  std::vector<std::unique_ptr<child>> leaders;
  std::size_t others = 0;  // processes that have been killed so that the guardians judge

 private:
  /// Each process takes some descriptors of each guardian.
  static void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  std::unique_ptr<child> make_known(std::int64_t id, const body& then) {
    return std::make_unique<child>([&, id](const child::orders& orders) {
      talker to_one(options.socket.path), to_other(early_socket());
      for (auto* each : {&to_one, &to_other}) {
        each->greet();
        each->tell(session_of(id));
        each->tell(term_of(id, "/election"));
        each->complete();
      }
      orders.report('r');
      orders.wait();
      then(orders);
    });
  }
};

}  // namespace guardian::test
