// A child of `fork` destroys its copies of what its parent has: the parent notices nothing.
#include <memory>
#include <optional>

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

BOOST_AUTO_TEST_SUITE_END()
