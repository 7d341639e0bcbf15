// One queue, filled and emptied by us and by Curator's SimpleDistributedQueue, or with priorities by kazoo's Queue.
#include <algorithm>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

namespace {

struct queue_case : interop_case {
  /// Our takers may leave an empty `_idle` folder behind: a taker whose server lags behind sees no items and waits
  /// there.
  void finish() {
    close_all();
    const std::string folder = "/line/_idle";
    if (std::ranges::count(children("/line"), "_idle")) {
      BOOST_TEST(run_until([&] { return children(folder).empty(); }), "somebody still waits for items");
      remove(folder);
    }
    interop_case::finish();
  }

  /// The workers put `each_puts` items each. Then all take as many each at the same time, ours with the command `ours`.
  void share_many_items(std::initializer_list<participant> who, int each_puts, const std::string& ours) {
    open(who);
    const auto takers = static_cast<int>(opened.size());
    for (int i = 0; i < each_puts * takers; ++i) {
      BOOST_TEST_REQUIRE(ask(opened[i % takers], "put " + std::to_string(i)) == "ok");
    }
    for (const auto& each : opened) {
      worker(each).tell((each.starts_with("cpp") ? ours : "take") + ' ' + std::to_string(each_puts));
    }
    std::vector<int> taken;
    for (const auto& each : opened) {
      const auto said = answer_of(each);
      std::istringstream answer(said);
      std::string ok;
      answer >> ok;
      BOOST_TEST(ok == "ok", each << ": " << said);
      for (int item = 0; answer >> item;) taken.push_back(item);
    }
    std::sort(taken.begin(), taken.end());
    BOOST_TEST_REQUIRE(taken.size() == static_cast<std::size_t>(each_puts * takers));
    for (int i = 0; i < each_puts * takers; ++i) BOOST_TEST(taken[i] == i, "item " << i << ", once");
    finish();
  }
};

constexpr const char* in_order =
    "ok ours-first theirs-first ours-again theirs-again ours-usual theirs-usual ours-last theirs-last";

struct priority_case : queue_case {
  /// Beside kazoo's path we may leave only the folder of waiting takers, and nobody may be in it.
  void teardown() {
    const std::string side = "/line-side";
    for (const auto& each : children(side)) {
      BOOST_TEST(each == "_idle");
      BOOST_TEST(children(side + '/' + each).empty());
      remove(side + '/' + each);
    }
    remove(side);
    queue_case::teardown();
  }
  void put_by_turns() {
    for (const char* item : {"last 900", "usual", "first 7", "again 7"}) {
      BOOST_TEST(ask("cpp1", std::string("put ours-") + item) == "ok");
      BOOST_TEST(ask("python1", std::string("put theirs-") + item) == "ok");
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queues, queue_case)

BOOST_AUTO_TEST_CASE(what_curator_or_we_put_the_other_takes_in_order) {
  open({{"cpp1", "queue"}, {"java1", "queue"}});
  for (const char* item : {"1", "2", "3"}) {
    BOOST_TEST(ask("cpp1", std::string("put ours") + item) == "ok");
    BOOST_TEST(ask("java1", std::string("put theirs") + item) == "ok");
  }
  BOOST_TEST(ask("java1", "take 3") == "ok ours1 theirs1 ours2");
  BOOST_TEST(ask("cpp1", "catch-up") == "ok");  // its server may not have seen yet what others have put and taken
  BOOST_TEST(ask("cpp1", "take 3") == "ok theirs2 ours3 theirs3");
  finish();
}

BOOST_AUTO_TEST_CASE(of_many_items_each_is_taken_once_by_curator_or_by_us) {
  share_many_items({{"cpp1", "queue"}, {"java1", "queue"}, {"cpp2", "queue"}, {"java2", "queue"}}, 100, "take");
}

// Curator does not see claims. The client that deletes the item first has it, and the other client is told so.
BOOST_AUTO_TEST_CASE(curator_takes_what_we_have_claimed_and_we_are_told) {
  open({{"cpp1", "queue"}, {"java1", "queue"}});
  BOOST_TEST(ask("java1", "put item") == "ok");
  BOOST_TEST(ask("cpp1", "claim") == "ok item");
  BOOST_TEST(ask("java1", "take 1") == "ok item");
  BOOST_TEST(ask("cpp1", "acknowledge").starts_with(make_error_code(zkrecipes::errc::superseded).message()));
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(priority_queues, priority_case)

BOOST_AUTO_TEST_CASE(what_kazoo_or_we_put_kazoo_takes_in_order_of_priority) {
  open({{"cpp1", "priority-queue"}, {"python1", "priority-queue"}});
  put_by_turns();
  BOOST_TEST(ask("python1", "take 8") == in_order);
  BOOST_TEST(ask("cpp1", "put one-more 3") == "ok");
  BOOST_TEST(ask("cpp1", "pop 1") == "ok one-more");  // this has left nothing behind that kazoo would take
  finish();
}

BOOST_AUTO_TEST_CASE(what_kazoo_or_we_put_we_take_in_order_of_priority) {
  for (const char* how : {"pop 8", "take 8"}) {
    opened.clear();
    open({{"cpp1", "priority-queue"}, {"python1", "priority-queue"}});
    put_by_turns();
    BOOST_TEST(ask("cpp1", "catch-up") == "ok");
    BOOST_TEST(ask("cpp1", how) == in_order, how);
    finish();
  }
}

BOOST_AUTO_TEST_CASE(of_many_items_each_is_taken_once_by_kazoo_or_by_us) {
  share_many_items({{"cpp1", "priority-queue"},
                    {"python1", "priority-queue"},
                    {"cpp2", "priority-queue"},
                    {"python2", "priority-queue"}},
                   100, "pop");
}

// kazoo does not see claims either.
BOOST_AUTO_TEST_CASE(kazoo_takes_what_we_have_claimed_and_we_are_told) {
  open({{"cpp1", "priority-queue"}, {"python1", "priority-queue"}});
  BOOST_TEST(ask("python1", "put item 5") == "ok");
  BOOST_TEST(ask("cpp1", "claim") == "ok item");
  BOOST_TEST(ask("python1", "take 1") == "ok item");
  BOOST_TEST(ask("cpp1", "acknowledge").starts_with(make_error_code(zkrecipes::errc::superseded).message()));
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
