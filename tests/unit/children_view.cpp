// A view of children that change all the time.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/children_view.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct viewing : connected_session {
  void view(children_view_options options = {}) {
    seen.emplace(zk, "/p", std::move(options));
    settle();
    list({"a", "b"});
    CHECK_PENDING("get /p/a", "get /p/b");
  }
  void change(const std::string& name) { fire(backend::change::data, "/p/" + name); }
  /// Answers the oldest request, a read of a child, with the child's next version.
  void show() { answer_with({.data = std::to_string(++zxid), .stat = {.czxid = 1, .mzxid = zxid}}); }
  /// The children that the view shows now, as "a=3 b=2".
  std::string shown() {
    std::string all;
    for (const auto& each : seen->snapshot().nodes) all += (all.empty() ? "" : " ") + each->name + '=' + each->data;
    return all;
  }

  std::optional<children_view> seen;
  std::int64_t zxid = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(changing_children, viewing)

BOOST_AUTO_TEST_CASE(a_child_that_may_not_be_read_is_read_again_at_each_heartbeat) {
  view();
  fail(errc::no_auth);
  show();
  BOOST_TEST(shown() == "a= b=1");
  for (int i = 0; i < 3; ++i) {
    advance(3s);
    CHECK_PENDING("exists /", "get /p/a");
    answer();
    fail(errc::no_auth);
    CHECK_PENDING();
  }
  advance(3s);
  answer();
  show();
  BOOST_TEST(shown() == "a=2 b=1");
}

BOOST_AUTO_TEST_CASE(what_changes_while_it_is_read_does_not_keep_the_view_back) {
  view();
  show();
  change("a");
  show();
  BOOST_TEST(shown() == "a=1 b=2");
  CHECK_PENDING();
  advance(100ms);
  CHECK_PENDING("get /p/a");
  show();
  BOOST_TEST(shown() == "a=3 b=2");
}

BOOST_AUTO_TEST_CASE(what_changes_all_the_time_is_read_at_a_bounded_rate) {
  view();
  show();
  show();
  int reads = 0;
  std::string before;
  for (int i = 0; i < 100; ++i) {
    change("a");
    change("b");
    for (; !pending().empty(); ++reads) show();
    if (reads > 0 && i % 10 == 9) BOOST_TEST(std::exchange(before, shown()) != shown(), "it goes on");
    advance(10ms);
  }
  BOOST_TEST(reads >= 2 * 9);
  BOOST_TEST(reads <= 2 * 11);
}

BOOST_AUTO_TEST_CASE(a_change_after_a_quiet_time_is_read_at_once) {
  view();
  show();
  show();
  advance(1s);
  change("b");
  CHECK_PENDING("get /p/b");
}

BOOST_AUTO_TEST_CASE(without_an_interval_every_change_is_read_at_once) {
  view({.interval = 0ms});
  show();
  show();
  for (int i = 0; i < 3; ++i) {
    change("a");
    CHECK_PENDING("get /p/a");
    show();
  }
}

BOOST_AUTO_TEST_CASE(a_bad_interval_is_named) {
  BOOST_CHECK_EXCEPTION(children_view(zk, "/p", {.interval = -1ms}), std::invalid_argument, [](const auto& error) {
    return std::string(error.what()).find("interval") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()

// The difference between two views of the same children.
namespace {

child_node node(std::string name, std::int64_t czxid, std::int64_t mzxid, error_code error = {}) {
  child_node made{std::move(name), "data", {}, error};
  made.stat.czxid = czxid;
  made.stat.mzxid = mzxid;
  return made;
}

children_snapshot seen(std::vector<child_node> nodes) {
  children_snapshot made;
  made.exists = true;
  for (auto& each : nodes) made.nodes.push_back(std::make_shared<const child_node>(std::move(each)));
  return made;
}

std::string names(const std::vector<child_ptr>& nodes) {
  std::string all;
  for (const auto& each : nodes) all += each->name + std::to_string(each->stat.mzxid) + ' ';
  return all;
}

/// The nodes that were added, changed and removed, each with its mzxid.
std::string told(const children_snapshot& before, const children_snapshot& now) {
  const auto change = difference(before, now);
  BOOST_TEST((change.now.nodes == now.nodes));
  const auto text = "+ " + names(change.added) + "~ " + names(change.changed) + "- " + names(change.removed);
  BOOST_TEST(change.empty() == (text == "+ ~ - "));
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(children_difference)

BOOST_AUTO_TEST_CASE(what_came_changed_and_went) {
  const auto before = seen({node("b", 2, 2), node("c", 3, 3), node("d", 4, 4)});
  const auto now = seen({node("a", 9, 9), node("b", 2, 2), node("c", 3, 8), node("e", 7, 7)});
  BOOST_TEST(told(before, now) == "+ a9 e7 ~ c8 - d4 ");
  BOOST_TEST(told(now, before) == "+ d4 ~ c3 - a9 e7 ");
}

BOOST_AUTO_TEST_CASE(the_same_read_twice_is_no_difference) {
  BOOST_TEST(told(seen({node("a", 1, 1)}), seen({node("a", 1, 1)})) == "+ ~ - ");
  BOOST_TEST(told({}, {}) == "+ ~ - ");
}

BOOST_AUTO_TEST_CASE(nothing_is_seen_before_or_after) {
  const auto both = seen({node("a", 1, 1), node("b", 2, 2)});
  BOOST_TEST(told({}, both) == "+ a1 b2 ~ - ");
  BOOST_TEST(told(both, {}) == "+ ~ - a1 b2 ");
}

BOOST_AUTO_TEST_CASE(one_that_was_made_again_is_another_one) {
  BOOST_TEST(told(seen({node("a", 1, 1)}), seen({node("a", 5, 5)})) == "+ a5 ~ - a1 ");
}

// A child that must not be read has zeros as its zxids.
BOOST_AUTO_TEST_CASE(a_right_that_comes_or_goes_is_a_difference) {
  const auto hidden = seen({node("a", 0, 0, errc::no_auth)});
  const auto shown = seen({node("a", 1, 1)});
  BOOST_TEST(told(hidden, shown) == "+ a1 ~ - a0 ");
  BOOST_TEST(told(shown, hidden) == "+ a0 ~ - a1 ");
  const auto refused = seen({node("a", 1, 1, errc::no_auth)});
  BOOST_TEST(told(shown, refused) == "+ ~ a1 - ");
}

BOOST_AUTO_TEST_CASE(one_is_found_by_its_name) {
  const auto both = seen({node("a", 1, 1), node("c", 2, 2)});
  BOOST_TEST_REQUIRE(both.find("c") != nullptr);
  BOOST_TEST(both.find("c")->stat.czxid == 2);
  for (const auto* missing : {"", "b", "d"}) BOOST_TEST(both.find(missing) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
