// The watch registry: which waiters hear of which change, and when the server's watch is removed.
#include <boost/test/unit_test.hpp>

#include "session/watch_registry.hpp"
#include "support/fake_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using zkrecipes::backend::change;

namespace {

struct registry_case {
  std::vector<std::string> forgotten;
  std::shared_ptr<watch_registry> registry =
      std::make_shared<watch_registry>([this](watch_kind kind, const std::string& path) {
        forgotten.push_back((kind == watch_kind::data ? "data " : "children ") + path);
      });
  zkrecipes::test::fake_bench bench;
  condition told{bench.make_scheduler()};

  std::unique_ptr<watch> wait_for(watch_kind kind, const std::string& path) {
    return std::make_unique<watch>(registry, kind, path, told);
  }
  /// Sends a request that sets a watch, and answers it at once.
  void set(watch_kind kind, const std::string& path) {
    registry->asked(kind, path);
    registry->answered(kind, path, true);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(watches, registry_case)

BOOST_AUTO_TEST_CASE(data_and_existence_are_one_kind_and_children_another) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  registry->fired(change::children, "/a");
  BOOST_TEST(children->fired());
  BOOST_TEST(!data->fired());
  registry->fired(change::created, "/a");
  BOOST_TEST(data->fired());
  BOOST_TEST(!data->deleted());
}

BOOST_AUTO_TEST_CASE(a_deletion_tells_both_kinds) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  registry->fired(change::deleted, "/a");
  BOOST_TEST(data->fired());
  BOOST_TEST(data->deleted());
  BOOST_TEST(children->fired());
  BOOST_TEST(children->deleted());
}

BOOST_AUTO_TEST_CASE(only_the_node_named_is_told_and_all_who_wait_for_it) {
  auto one = wait_for(watch_kind::data, "/a");
  auto two = wait_for(watch_kind::data, "/a");
  auto other = wait_for(watch_kind::data, "/a/b");
  registry->fired(change::data, "/a");
  BOOST_TEST(one->fired());
  BOOST_TEST(two->fired());
  BOOST_TEST(!other->fired());
  BOOST_TEST(registry->size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_watch_is_told_once_and_nobody_is_told_of_what_came_before) {
  auto early = wait_for(watch_kind::data, "/a");
  registry->fired(change::data, "/a");
  auto late = wait_for(watch_kind::data, "/a");
  BOOST_TEST(early->fired());
  BOOST_TEST(!late->fired());
}

BOOST_AUTO_TEST_CASE(the_last_one_to_leave_takes_the_servers_watch_away) {
  auto one = wait_for(watch_kind::data, "/a");
  auto two = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  set(watch_kind::data, "/a");
  set(watch_kind::children, "/a");
  one.reset();
  BOOST_TEST(forgotten.empty());
  two.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
  children.reset();
  BOOST_TEST(forgotten.back() == "children /a");
  BOOST_TEST(registry->size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_fired_watch_needs_no_taking_away_nor_one_that_was_let_go) {
  auto fired = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->fired(change::data, "/a");
  fired.reset();
  auto released = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  released->let_go();
  released.reset();
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_CASE(one_that_was_let_go_leaves_the_servers_watch_to_who_waits_on) {
  auto released = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  auto other = wait_for(watch_kind::data, "/a");
  released->let_go();
  released.reset();
  other.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(where_the_server_set_no_watch_there_is_none_to_take_away) {
  auto never_asked = wait_for(watch_kind::data, "/a");
  never_asked.reset();
  auto refused = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", false);
  refused.reset();
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", false);
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_CASE(one_that_nobody_waits_for_any_more_is_taken_away_behind_the_answer) {
  auto gone = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  BOOST_TEST(forgotten.empty());
  registry->answered(watch_kind::data, "/a", true);
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_request_leaves_what_an_earlier_one_has_set_to_take_away) {
  auto gone = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  BOOST_TEST(forgotten.empty());
  registry->answered(watch_kind::data, "/a", false);
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_event_ends_what_was_set_and_not_what_an_answer_will_tell_of) {
  auto gone = wait_for(watch_kind::children, "/a");
  set(watch_kind::children, "/a");
  registry->asked(watch_kind::children, "/a");
  gone.reset();
  registry->fired(change::children, "/a");
  registry->answered(watch_kind::children, "/a", false);
  BOOST_TEST(forgotten.empty());
  registry->asked(watch_kind::children, "/a");
  registry->fired(change::children, "/a");
  registry->answered(watch_kind::children, "/a", true);
  BOOST_TEST(forgotten == std::vector<std::string>{"children /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_asked_over_a_lost_connection_stands_for_nothing) {
  auto gone = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  registry->connection_lost();
  auto later = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  later.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_tells_everybody_to_look_again) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/b");
  registry->connection_lost();
  BOOST_TEST(data->fired());
  BOOST_TEST(!data->deleted());
  BOOST_TEST(children->fired());
  BOOST_TEST(registry->size() == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_of_the_server_after_the_end) {
  auto data = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->stop();
  data.reset();
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_SUITE_END()
