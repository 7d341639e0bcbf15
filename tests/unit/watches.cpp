// Who is told of which change, and when the server's watch is taken away.
#include "session/watches.hpp"

#include "support/fake_world.hpp"

#include <boost/test/unit_test.hpp>

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
  registry->fired(change::data, "/a");
  fired.reset();
  auto released = wait_for(watch_kind::data, "/a");
  released->let_go();
  released.reset();
  BOOST_TEST(forgotten.empty());
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
  registry->stop();
  data.reset();
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_SUITE_END()
