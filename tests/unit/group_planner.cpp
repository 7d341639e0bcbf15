// The election of planners, as a member of a shard group takes part in it.
#include "shards/group_planner.hpp"

#include <memory>

#include <boost/asio/post.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct electing : fake_session {
  struct member {
    explicit member(const group_frame_ptr& group) : changed(group->session->get_scheduler()), planner(group, changed) {}
    condition changed;
    group_planner planner;
  };

  electing() {
    connect();
    auto group = std::make_shared<group_frame>(zk.get_core());
    group->where.root = "/g";
    group->options.id = "me";
    one = std::make_shared<member>(group);
  }

  void start() {
    asio::post(zk.get_core()->strand(), [this] { one->planner.start(one); });
    settle();
  }
  void start_again_if_due() {
    asio::post(zk.get_core()->strand(), [this] { one->planner.start_again_if_due(one); });
    settle();
  }
  void end() {
    launch_detached(zk.get_core()->strand(), one->planner.end());
    settle();
  }
  /// The election can not be used, and is to be tried again.
  void fail_once() {
    start();
    BOOST_TEST_REQUIRE(!last().pending.empty());
    while (!last().pending.empty()) fail(errc::no_auth);
    BOOST_TEST_REQUIRE((one->planner.failure() == errc::no_auth));
    start_again_if_due();
    BOOST_TEST(last().pending.empty(), "not at once");
    BOOST_TEST_REQUIRE((one->planner.due() > now() && one->planner.due() != never));
  }

  std::shared_ptr<member> one;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(group_planners, electing)

BOOST_AUTO_TEST_CASE(behind_a_failure_the_election_is_tried_again_after_a_pause) {
  fail_once();
  advance(one->planner.due() - now());
  start_again_if_due();
  BOOST_TEST(!last().pending.empty());
  BOOST_TEST(!one->planner.failure());
  BOOST_TEST((one->planner.due() == never));
}

// A member that waits until a time that is over does not wait at all, and keeps the session's thread.
BOOST_AUTO_TEST_CASE(the_next_run_does_not_wait_for_a_pause_of_the_run_before) {
  fail_once();
  end();
  start();
  BOOST_TEST(!one->planner.failure());
  BOOST_TEST((one->planner.due() == never));
}

BOOST_AUTO_TEST_SUITE_END()
