// Every way to die is noticed, and what the process held is ended, once.
#include <csignal>
#include <cstdlib>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "guardian/guarding.hpp"
#include "guardian/twice_guarded.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

void forbid_core() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

struct deaths_case : guarding {
  deaths_case() { start(); }

  void check(std::int64_t id) {
    BOOST_TEST_REQUIRE(endings_of(id) == 1u);
    const auto& what = ended.back();
    BOOST_TEST((what.session == session_of(id)), "with its password, servers and digests");
    BOOST_TEST_REQUIRE(what.terms.size() == 1u);
    BOOST_TEST((what.terms[0] == term_of(id, "/election")));
    run_until_logged("session_ended session=" + backend::shown_session(id));
    BOOST_TEST(guard->held().process_count() == 0u);
    BOOST_TEST(guard->connection_count() == 0u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(deaths, deaths_case)

BOOST_AUTO_TEST_CASE(killed_by_a_signal) {
  std::int64_t id = 0;
  for (const int number : {SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGBUS}) {
    auto leader = make_leader(*this, ++id, [](const child::orders& orders, talker&) { orders.wait(); });
    leader->signal(number);
    run_until_ended(id);
    check(id);
  }
}

BOOST_AUTO_TEST_CASE(ended_by_itself) {
  const std::vector<void (*)()> ways{[] { ::_exit(0); }, [] { ::_exit(7); }, [] { forbid_core(), std::abort(); },
                                     [] { std::quick_exit(0); }};
  std::int64_t id = 0;
  for (const auto way : ways) {
    auto leader = make_leader(*this, ++id, [&](const child::orders&, talker&) { way(); });
    leader->order('g');
    run_until_ended(id);
    check(id);
  }
}

BOOST_AUTO_TEST_CASE(killed_while_stopped) {
  auto leader = make_leader(*this, 1, [](const child::orders& orders, talker&) { orders.wait(); });
  leader->signal(SIGSTOP);
  leader->wait_until_stopped();
  leader->signal(SIGKILL);
  run_until_ended(1);
  check(1);
}

BOOST_AUTO_TEST_CASE(killed_with_many_threads) {
  auto leader = make_leader(*this, 1, [](const child::orders& orders, talker&) {
    std::vector<std::thread> all;
    for (int i = 0; i < 20; ++i) all.emplace_back([] { ::pause(); });
    orders.report('t');
    orders.wait();
    for (auto& each : all) each.join();
  });
  leader->order('g');
  run_until_reported(*leader, 't');
  leader->signal(SIGKILL);
  run_until_ended(1);
  check(1);
}

BOOST_AUTO_TEST_CASE(dead_before_the_guardian_has_read_anything) {
  for (const bool is_reaped : {false, true}) {
    const std::int64_t id = is_reaped ? 2 : 1;
    child leader([&](const child::orders&) {
      talker to(options.socket.path);
      to.greet();
      to.tell(session_of(id));
      to.tell(term_of(id, "/election"));
    });
    leader.wait_for_end();
    if (is_reaped) leader.reap();
    BOOST_TEST(ended.size() == (is_reaped ? 1u : 0u));
    run_until_ended(id);
    check(id);
  }
}

BOOST_AUTO_TEST_CASE(the_last_words_count) {
  auto leader = make_leader(*this, 1, [](const child::orders&, talker& to) {
    to.tell(backend::guarded_term_end{1, "/election", "_c_1"});
    to.tell(term_of(1, "/another"));
    to.tell(session_of(2));
    ::_exit(0);
  });
  leader->order('g');
  leader->wait_for_end();  // the guardian has not run meanwhile: words and death are there at once
  run_until_ended(1);
  run_until_ended(2);
  BOOST_TEST_REQUIRE(ended.size() == 2u);
  BOOST_TEST(ended[0].session.key.id == 1, "the session with a term comes first");
  BOOST_TEST_REQUIRE(ended[0].terms.size() == 1u);
  BOOST_TEST(ended[0].terms[0].record == "/another");
}

BOOST_AUTO_TEST_CASE(taken_back_is_not_ended) {
  auto leader = make_leader(*this, 1, [](const child::orders&, talker& to) {
    to.tell(backend::guarded_session_end{1});
    ::_exit(0);
  });
  leader->order('g');
  // A process that holds nothing is forgotten with its connection, if the agent hears of that end first.
  run_until([&] { return has_logged("process_ended") || has_logged("line_ended"); }, "in the log: an end");
  see_another_death();
  BOOST_TEST(endings_of(1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_former_incarnation_that_was_not_told_again_is_not_ended) {
  const auto path = options.socket.path;
  child leader([&](const child::orders& orders) {
    for (const std::int64_t id : {1, 2}) {  // the second connection is that after a loss
      talker to(path);
      to.greet();
      to.tell(session_of(id));
      to.tell(term_of(id, "/election"));
      to.complete();
    }
    orders.report('r');
    orders.wait();
  });
  run_until_reported(leader, 'r');
  leader.signal(SIGKILL);
  run_until_ended(2);
  check(2);
  see_another_death();
  BOOST_TEST(endings_of(1) == 0u);
}

BOOST_AUTO_TEST_CASE(another_process_with_the_socket_does_not_hide_the_death) {
  auto leader = make_leader(*this, 1, [](const child::orders& orders, talker&) {
    if (::fork() == 0) {
      while (orders.wait() != 0) {  // until the test drops the leader
      }
      ::_exit(0);
    }
    orders.report('f');
    orders.wait();
  });
  leader->order('g');
  run_until_reported(*leader, 'f');
  leader->signal(SIGKILL);
  run_until_ended(1);
  check(1);
}

BOOST_AUTO_TEST_SUITE_END()

// Fifty processes that die at once, in several ways: each session is ended, once.
namespace {

constexpr std::int64_t fifty = 50;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(deaths_at_once, twice_guarded)

BOOST_AUTO_TEST_CASE(killed) {
  populate(fifty, [](const child::orders& orders) { orders.wait(); });
  signal_all(SIGKILL);
  for (const auto& each : leaders) each->wait_for_end();  // the guardians have not run meanwhile
  BOOST_TEST(ended.empty());
  check_deaths();
}

BOOST_AUTO_TEST_CASE(in_several_ways_beside_others_that_live) {
  populate(fifty, [](const child::orders& orders) { orders.wait() == 'x' ? ::_exit(7) : ::_exit(0); });
  std::vector<std::unique_ptr<child>> living;
  for (int i = 0; i < 10; ++i) {
    living.push_back(std::move(leaders.back()));
    leaders.pop_back();
  }
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    if (i % 3 == 0) leaders[i]->signal(SIGKILL);
    if (i % 3 == 1) leaders[i]->signal(SIGTERM);
    if (i % 3 == 2) leaders[i]->order('g'), leaders[i]->order('x');
  }
  check_endings(leaders.size());
  ended.clear();
  ended_early.clear();
  leaders.swap(living);
  check_lives();
  signal_all(SIGKILL);
  check_deaths();
}

BOOST_AUTO_TEST_SUITE_END()
