// A node together with its missing parents, and a node together with everything below it.
#include <cstddef>
#include <string>
#include <vector>

#include "ensemble/print.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct subtree_case : connected_session {
  void remove(std::string path) { zk.async_remove_with_children(std::move(path), removing.token()), settle(); }
  void create() {
    zk.async_create_with_parents("/a/b", "x", create_mode::persistent, creating.token());
    settle();
  }

  recorder<std::size_t> removing = record<std::size_t>();
  recorder<created_node> creating = record<created_node>();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_subtree, subtree_case)

BOOST_AUTO_TEST_CASE(a_node_without_children_is_one_request) {
  remove("/a");
  CHECK_PENDING("remove /a");
  answer();
  BOOST_TEST_REQUIRE(succeeded(removing));
  BOOST_TEST(removing.result<0>() == 1u);
}

BOOST_AUTO_TEST_CASE(leaves_go_first_and_together) {
  remove("/a");
  fail(errc::not_empty);
  CHECK_PENDING("children /a");
  list({"x", "y", "z"});
  CHECK_PENDING("remove /a/x", "remove /a/y", "remove /a/z", "remove /a");
  answer();
  fail(errc::not_empty);
  answer();
  fail(errc::not_empty);
  CHECK_PENDING("children /a/y");
  list({"deep"});
  CHECK_PENDING("remove /a/y/deep", "remove /a/y");
  answer();
  answer();
  CHECK_PENDING("remove /a");
  answer();
  BOOST_TEST_REQUIRE(succeeded(removing));
  BOOST_TEST(removing.result<0>() == 5u);
}

// Behind its children, so that no other client comes between them.
BOOST_AUTO_TEST_CASE(a_node_goes_together_with_its_last_leaves) {
  remove("/a");
  fail(errc::not_empty);
  list({"x", "y"});
  CHECK_PENDING("remove /a/x", "remove /a/y", "remove /a");
  answer();
  answer();
  answer();
  BOOST_TEST_REQUIRE(succeeded(removing));
  BOOST_TEST(removing.result<0>() == 3u);
}

BOOST_AUTO_TEST_CASE(a_child_that_others_create_meanwhile_goes_too) {
  remove("/a");
  fail(errc::not_empty);
  list({"x"});
  answer();
  fail(errc::not_empty);
  CHECK_PENDING("children /a");
  list({"late"});
  CHECK_PENDING("remove /a/late", "remove /a");
  answer();
  answer();
  BOOST_TEST_REQUIRE(removing.done());
  BOOST_TEST(removing.result<0>() == 3u);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_missing_is_no_error) {
  remove("/a");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(removing));
  BOOST_TEST(removing.result<0>() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_asked_again) {
  remove("/a");
  reconnect();
  CHECK_PENDING("remove /a");
  fail(errc::no_node);  // the first one was executed
  BOOST_TEST_REQUIRE(succeeded(removing));
}

BOOST_AUTO_TEST_CASE(a_refusal_ends_it_and_tells_what_went) {
  remove("/a");
  fail(errc::not_empty);
  list({"x", "y", "z"});
  answer();
  fail(errc::no_auth);
  answer();
  fail(errc::not_empty);
  BOOST_TEST_REQUIRE(ended_with(removing, errc::no_auth));
  BOOST_TEST(removing.result<0>() == 2u);
}

BOOST_AUTO_TEST_CASE(it_gives_up_where_others_go_on_creating) {
  remove("/a");
  int rounds = 0;
  for (; !removing.done() && rounds < 1000; ++rounds) {
    fail(errc::not_empty);
    if (!removing.done()) list({});
  }
  BOOST_TEST_REQUIRE(ended_with(removing, errc::not_empty));
  BOOST_TEST(rounds == 100);
}

BOOST_AUTO_TEST_CASE(a_hundred_requests_are_in_flight_at_most) {
  remove("/a");
  fail(errc::not_empty);
  std::vector<std::string> names;
  for (int i = 0; i < 250; ++i) names.push_back(std::to_string(i));
  list(names);
  for (const std::size_t count : {100u, 100u, 51u}) {
    BOOST_TEST_REQUIRE(pending().size() == count);
    BOOST_TEST((pending().back() == "remove /a") == (count == 51u));
    for (std::size_t i = 0; i < count; ++i) answer();
  }
  BOOST_TEST(removing.done());
}

BOOST_AUTO_TEST_CASE(a_cancellation_sends_nothing_more) {
  remove("/a");
  fail(errc::not_empty);
  removing.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(removing, boost::asio::error::operation_aborted));
  list({"x"});
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_root_and_bad_paths_are_refused) {
  for (const char* path : {"/", "", "a", "/a/", "/a//b", "/../a"}) {
    auto refused = zk.async_remove_with_children(path, begun());
    BOOST_TEST_REQUIRE(refused.done(), path);
    BOOST_TEST(refused.error() == errc::bad_arguments, path);
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(parents_are_created_only_where_they_are_missing) {
  create();
  CHECK_PENDING("create /a/b");
  fail(errc::no_node);
  CHECK_PENDING("create /a");
  answer();
  CHECK_PENDING("create /a/b");
  answer();
  BOOST_TEST_REQUIRE(succeeded(creating));
}

BOOST_AUTO_TEST_CASE(a_lost_creation_is_told_and_not_repeated) {
  create();
  fail(errc::no_node);
  answer();
  CHECK_PENDING("create /a/b");
  lose();
  BOOST_TEST_REQUIRE(ended_with(creating, errc::connection_loss));
}

BOOST_AUTO_TEST_CASE(parents_that_can_not_be_created_are_told) {
  create();
  fail(errc::no_node);
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(creating, errc::no_auth));
}

BOOST_AUTO_TEST_SUITE_END()
