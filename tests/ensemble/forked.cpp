// A child of `fork` destroys its copies of what its parent has: the parent notices nothing.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/lock.hpp>

#include "ensemble/ensemble_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A process with a context of its own, so that a child can destroy all of it.
struct forking_case : ensemble_case {
  void teardown() {
    zk_of_its_own.reset();
    own_io.reset();
    ensemble_case::teardown();
  }
  template <class Condition>
  void run_own_until(Condition holds) {
    BOOST_TEST_REQUIRE(run_until([&] {
      own_io->restart();
      own_io->poll();
      return holds();
    }));
  }

  void destroy_in_child(std::optional<ownership>& held) {
    const auto child = ::fork();
    if (child == 0) {
      held.reset();
      zk_of_its_own.reset();
      own_io.reset();
      ::_exit(0);
    }
    BOOST_TEST_REQUIRE(child > 0);
    int status = -1;
    BOOST_TEST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
  }

  void connect_own() {
    zk_of_its_own.emplace(*own_io, far_options());
    run_own_until([&] { return zk_of_its_own->status().state == session_state::connected; });
  }
  void create_own(const std::string& path) {
    bool is_answered = false;
    zk_of_its_own->async_create(path, "", create_mode::ephemeral, [&](error_code error, auto&&...) {
      BOOST_TEST(!error, error.message());
      is_answered = true;
    });
    run_own_until([&] { return is_answered; });
  }
  void close_own() {
    bool is_closed = false;
    zk_of_its_own->async_close([&](error_code) { is_closed = true; });
    run_own_until([&] { return is_closed; });
  }

  /// `work` returns the exit status.
  template <class Work>
  pid_t begin_child(Work work) {
    own_io->notify_fork(asio::io_context::fork_prepare);
    const auto child = ::fork();
    if (child == 0) {
      ::alarm(60);
      own_io->notify_fork(asio::io_context::fork_child);
      try {
        ::_exit(work());
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    own_io->notify_fork(asio::io_context::fork_parent);
    BOOST_TEST_REQUIRE(child > 0);
    return child;
  }
  /// Meanwhile the parent uses its session.
  template <class Work>
  void run_in_child(Work work) {
    const auto child = begin_child(std::move(work));
    int status = -1;
    bool is_answered = true;
    run_own_until([&] {
      if (std::exchange(is_answered, false)) {
        zk_of_its_own->async_exists("/of-parent", [&](error_code error, auto&&...) {
          BOOST_TEST(!error, error.message());
          is_answered = true;
        });
      }
      return ::waitpid(child, &status, WNOHANG) == child;
    });
    run_own_until([&] { return is_answered; });
    BOOST_TEST(status == 0);
  }
  /// Without an assertion, whose report is the parent's.
  template <class Condition>
  bool child_runs_until(Condition holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      own_io->restart();
      own_io->run_one_for(std::chrono::milliseconds(100));
    }
    return holds();
  }

  std::unique_ptr<asio::io_context> own_io = std::make_unique<asio::io_context>();
  std::optional<session> zk_of_its_own;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(forked)

BOOST_FIXTURE_TEST_CASE(a_child_that_destroys_its_copies_ends_nothing_of_the_parents, forking_case) {
  zk_of_its_own.emplace(*own_io, far_options());
  auto& its = *zk_of_its_own;
  run_own_until([&] { return its.status().state == session_state::connected; });
  std::optional<ownership> held;
  {
    lock of(its, "/lock", {.id = "parent"});
    of.async_acquire([&](error_code error, ownership got) {
      BOOST_TEST(!error, error.message());
      held = std::move(got);
    });
  }
  run_own_until([&] { return held.has_value(); });
  const auto before = its.counters().connects;
  bool is_written = false;
  error_code written;
  its.async_create("/written", std::string(100'000, 'x'), create_mode::persistent, [&](error_code error, auto&&...) {
    written = error;
    is_written = true;
  });  // is under way while the child unwinds
  destroy_in_child(held);
  run_own_until([&] { return is_written; });
  BOOST_TEST(!written, written.message());
  for (int i = 0; i < 20; ++i) {
    bool is_answered = false;
    its.async_exists("/written", [&](error_code error, auto&&...) {
      BOOST_TEST(!error, error.message());
      is_answered = true;
    });
    run_own_until([&] { return is_answered; });
  }
  BOOST_TEST(its.counters().connects == before);
  BOOST_TEST(!held->error(), held->error().message());
  bool is_closed = false;
  held->async_release([&](error_code error) {
    BOOST_TEST(!error, error.message());
    its.async_close([&](error_code) { is_closed = true; });
  });
  run_own_until([&] { return is_closed; });
  remove("/written");
  remove("/lock");
}

// What destroys a coroutine removes its watches on the server: by a request, if the link still exists.
BOOST_FIXTURE_TEST_CASE(a_child_that_is_forked_at_any_step_sends_nothing, forking_case) {
  zk_of_its_own.emplace(*own_io, far_options());
  auto& its = *zk_of_its_own;
  run_own_until([&] { return its.status().state == session_state::connected; });
  const auto before = its.counters().connects;
  std::optional<ownership> held;
  lock of(its, "/lock", {.id = "parent"});
  of.async_acquire([&](error_code error, ownership got) {
    BOOST_TEST(!error, error.message());
    held = std::move(got);
  });
  int steps_left = 15;
  BOOST_TEST_REQUIRE(run_until([&] {
    own_io->restart();
    if (own_io->poll_one() == 0) return held.has_value();
    destroy_in_child(held);
    return held && --steps_left == 0;
  }));
  bool is_closed = false;
  held->async_release([&](error_code error) {
    BOOST_TEST(!error, error.message());
    its.async_close([&](error_code) { is_closed = true; });
  });
  run_own_until([&] { return is_closed; });
  BOOST_TEST(its.counters().connects == before);
  remove("/lock");
}

// As `daemon` does, but here the parent lives on, and uses its session.
BOOST_FIXTURE_TEST_CASE(a_child_that_goes_on_gets_a_session_of_its_own, forking_case) {
  connect_own();
  auto& its = *zk_of_its_own;
  const auto of_parent = its.status().session_id;
  const auto before = its.counters().connects;
  create_own("/of-parent");
  run_in_child([&] {
    its.async_exists("/", [](error_code, auto&&...) {});
    const auto has_its_own = [&] {
      const auto now = its.status();
      return now.state == session_state::connected && now.session_id != of_parent;
    };
    if (!child_runs_until(has_its_own)) return 2;
    std::optional<error_code> created;
    its.async_create("/of-child", "", create_mode::ephemeral, [&](error_code error, auto&&...) { created = error; });
    if (!child_runs_until([&] { return created.has_value(); }) || *created) return 3;
    bool is_closed = false;
    its.async_close([&](error_code) { is_closed = true; });
    return child_runs_until([&] { return is_closed; }) ? 0 : 4;
  });
  BOOST_TEST(its.status().session_id == of_parent);
  BOOST_TEST(its.counters().connects == before);
  BOOST_TEST(exists("/of-parent"));
  BOOST_TEST(!exists("/of-child"));
  close_own();
}

// The answer comes while the parent does not look.
BOOST_FIXTURE_TEST_CASE(a_child_that_goes_on_takes_no_answer_of_its_parent, forking_case) {
  connect_own();
  auto& its = *zk_of_its_own;
  const auto of_parent = its.status().session_id;
  const auto before = its.counters().connects;
  own().freeze(true);
  bool is_answered = false;
  its.async_exists("/", [&](error_code error, auto&&...) {
    BOOST_TEST(!error, error.message());
    is_answered = true;
  });
  own_io->restart();
  own_io->poll();
  const auto child = begin_child([&] {
    const auto has_left = [&] { return its.status().session_id != of_parent; };
    return child_runs_until(has_left) && !is_answered ? 0 : 2;
  });
  own().freeze(false);
  int status = -1;
  BOOST_TEST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  run_own_until([&] { return is_answered; });
  BOOST_TEST(its.counters().connects == before);
  close_own();
}

BOOST_FIXTURE_TEST_CASE(a_child_that_closes_its_copy_of_the_session_ends_nothing_of_the_parents, forking_case) {
  connect_own();
  auto& its = *zk_of_its_own;
  const auto before = its.counters().connects;
  create_own("/of-parent");
  run_in_child([&] {
    bool is_closed = false;
    its.async_close([&](error_code) { is_closed = true; });
    if (!child_runs_until([&] { return is_closed; })) return 2;
    zk_of_its_own.reset();
    return child_runs_until([&] { return own_io->stopped(); }) ? 0 : 3;
  });
  BOOST_TEST(its.counters().connects == before);
  BOOST_TEST(exists("/of-parent"));
  close_own();
}

BOOST_AUTO_TEST_SUITE_END()
