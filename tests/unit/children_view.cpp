// A view of children that change all the time.
#include <optional>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/children_view.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct viewing : fake_session {
  viewing() { connect(); }

  void view(children_view_options options = {}) {
    seen.emplace(zk, "/p", std::move(options));
    settle();
    list({"a", "b"});
    CHECK_PENDING("get /p/a", "get /p/b");
  }
  void change(const std::string& name) { fire(backend::change::data, "/p/" + name); }
  /// Answers the oldest request, a read of a child, with the child's next version.
  void show() {
    backend::reply node;
    node.data = std::to_string(++zxid);
    node.stat.czxid = 1;
    node.stat.mzxid = zxid;
    answer(std::move(node));
  }
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
