// Each recipe that Curator and kazoo have, too: their processes and ours use one path.
#include <algorithm>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

// One queue, filled and emptied by us and by Curator's SimpleDistributedQueue, or with priorities by kazoo's Queue.

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

// Instances of services, registered by us or by Curator's x-discovery and read by the other.

namespace {

struct discovery_case : interop_case {
  /// Waits until both workers see this, because a reader's server may lag behind.
  void both_see(const std::string& expected) {
    for (const char* who : {"cpp1", "java1"}) {
      std::string seen;
      run_until([&] { return (seen = ask(who, "instances billing")) == expected; });
      BOOST_TEST(seen == expected, who << " sees " << seen);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(discovery, discovery_case)

BOOST_AUTO_TEST_CASE(curator_and_we_see_each_others_instances_come_and_go) {
  open({{"cpp1", "discovery"}, {"java1", "discovery"}, {"cpp2", "discovery"}});
  BOOST_TEST(ask("cpp2", "register billing b 10.0.0.2 8082 ours") == "ok");
  both_see("ok b=10.0.0.2:8082/ours");
  BOOST_TEST(ask("java1", "register billing a 10.0.0.1 8081 theirs") == "ok");
  both_see("ok a=10.0.0.1:8081/theirs b=10.0.0.2:8082/ours");
  BOOST_TEST(ask("cpp2", "unregister") == "ok");
  both_see("ok a=10.0.0.1:8081/theirs");
  BOOST_TEST(ask("java1", "unregister") == "ok");
  both_see("ok");
  remove("/line/billing");  // the service's own node is left behind
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// One leader, by our election, Curator's two and kazoo's.

BOOST_FIXTURE_TEST_SUITE(elections, interop_case)

BOOST_AUTO_TEST_CASE(curators_leader_latch_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"java1", "latch"}, {"cpp2", "election"}, {"java2", "latch"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_CASE(kazoos_election_that_knows_our_names_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"python1", "election"}, {"cpp2", "election"}, {"python2", "election"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_CASE(curators_leader_selector_takes_turns_with_us_under_its_names) {
  open({{"cpp1", "election-as-selector"}, {"java1", "selector"}, {"cpp2", "mutex"}, {"java2", "selector"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

// A selector ranks the names of a latch behind its own names, and a latch does the same with a selector's. So these two
// recipes of Curator can not share a path either.
BOOST_AUTO_TEST_CASE(curators_leader_selector_walks_in_on_the_names_of_its_latch) {
  open({{"cpp1", "election"}, {"java1", "selector"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "overlap: cpp1 is inside");
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// One lock for C++, Java and Python.

BOOST_FIXTURE_TEST_SUITE(mutex, interop_case)

BOOST_AUTO_TEST_CASE(three_languages_take_turns) {
  open({{"cpp1", "mutex"},
        {"java1", "mutex"},
        {"python1", "mutex"},
        {"cpp2", "mutex"},
        {"java2", "mutex"},
        {"python2", "mutex"}});
  take_turns(1000);
  const auto record = witnessed();
  BOOST_TEST(record.at("hand_offs").as_int64() >= 1000);
  // The lock is first come, first served: once all six stand in line, each gets a sixth of the turns.
  for (const auto& each : opened) BOOST_TEST(record.at("turns").at(each).as_int64() > 1000 / 24, each);
  finish();
}

BOOST_AUTO_TEST_CASE(kazoo_under_its_own_names_takes_turns_with_us) {
  open({{"cpp1", "mutex"}, {"python1", "own-mutex"}, {"cpp2", "mutex"}, {"python2", "own-mutex"}});
  take_turns(100);
  BOOST_TEST(witnessed().at("hand_offs").as_int64() >= 100);
  finish();
}

// This is why kazoo has to be told of the others' names: without them it does not see our node ahead.
BOOST_AUTO_TEST_CASE(kazoo_that_knows_its_own_names_only_walks_in_on_us) {
  open({{"cpp1", "mutex"}, {"python1", "plain-mutex"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("python1", "enter") == "overlap: cpp1 is inside");
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  finish();
}

// Where Curator takes part, kazoo has to use Curator's names, because Curator ranks a child that it does not know
// behind its own numbers.
BOOST_AUTO_TEST_CASE(curator_walks_in_on_kazoo_under_its_own_names) {
  open({{"python1", "own-mutex"}, {"java1", "mutex"}});
  BOOST_TEST(ask("python1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "overlap: python1 is inside");
  BOOST_TEST(ask("python1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// Recipes that consist of one node, or of one node for each member: barrier, counter, group.

using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(single_nodes, interop_case)

BOOST_AUTO_TEST_CASE(a_barrier_that_one_language_raises_holds_the_others_until_any_lifts_it) {
  open({{"cpp1", "nodes"}, {"java1", "nodes"}, {"python1", "nodes"}});
  const std::vector<std::string> all = opened;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& raises = all[i];
    const auto& lifts = all[(i + 1) % all.size()];
    const auto& waits = all[(i + 2) % all.size()];
    BOOST_TEST(ask(raises, "raise") == "ok");
    worker(waits).tell("pass");
    BOOST_TEST(!answers_soon(waits), waits << " is held by " << raises);
    BOOST_TEST(ask(lifts, "lift") == "ok");
    BOOST_TEST(answer_of(waits) == "ok", lifts << " lets " << waits << " go on");
  }
  finish();
}

BOOST_AUTO_TEST_CASE(what_kazoo_and_we_count_is_counted_once) {
  create("/line/sum", "5");
  open({{"cpp1", "nodes"}, {"python1", "nodes"}, {"cpp2", "nodes"}, {"python2", "nodes"}});
  for (const auto& each : opened) worker(each).tell(each.starts_with("cpp") ? "add 3 50" : "add -1 50");
  for (const auto& each : opened) BOOST_TEST(answer_of(each) == "ok");
  BOOST_TEST(get("/line/sum").data == "205");
  remove("/line/sum");
  finish();
}

BOOST_AUTO_TEST_CASE(curators_members_and_ours_see_each_other) {
  open({{"cpp1", "nodes"}, {"java1", "nodes"}});
  BOOST_TEST(ask("cpp1", "join ours one") == "ok");
  BOOST_TEST(ask("java1", "join theirs two") == "ok");
  for (const char* each : {"cpp1", "java1"}) {
    BOOST_TEST(run_until([&] { return ask(each, "members") == "ok ours=one theirs=two"; }), each << " sees both");
  }
  BOOST_TEST(ask("cpp1", "leave-group") == "ok");
  BOOST_TEST(run_until([&] { return ask("java1", "members") == "ok theirs=two"; }));
  BOOST_TEST(ask("cpp1", "join ours again") == "ok");
  BOOST_TEST(ask("java1", "leave-group") == "ok");
  BOOST_TEST(run_until([&] { return ask("cpp1", "members") == "ok ours=again"; }));
  BOOST_TEST(ask("cpp1", "leave-group") == "ok");
  remove("/line/group");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// Readers share, writers exclude, whatever their language.

BOOST_FIXTURE_TEST_SUITE(read_write_locks, interop_case)

BOOST_AUTO_TEST_CASE(readers_share_and_a_writer_waits_for_them) {
  open({{"cpp1", "read"}, {"java1", "read"}, {"cpp2", "write"}, {"java2", "write"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "ok");
  BOOST_TEST(witnessed().at("readers").as_int64() == 2);
  worker("java2").tell("enter");
  await_in_line(3);
  worker("cpp2").tell("enter");
  await_in_line(4);
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  BOOST_TEST(!answers_soon("java2"));
  BOOST_TEST(ask("java1", "leave") == "ok");
  BOOST_TEST(answer_of("java2") == "ok");
  BOOST_TEST(!answers_soon("cpp2"));
  worker("cpp1").tell("enter");
  await_in_line(3);
  worker("java1").tell("enter");
  await_in_line(4);
  BOOST_TEST(ask("java2", "leave") == "ok");
  BOOST_TEST(answer_of("cpp2") == "ok");
  BOOST_TEST(!answers_soon("java1"));
  BOOST_TEST(!answers_soon("cpp1"));
  BOOST_TEST(ask("cpp2", "leave") == "ok");
  BOOST_TEST(answer_of("cpp1") == "ok");
  BOOST_TEST(answer_of("java1") == "ok");
  BOOST_TEST(witnessed().at("readers").as_int64() == 2);
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  BOOST_TEST(ask("java1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_CASE(we_and_curator_contend) {
  open({{"cpp1", "read"}, {"java1", "read"}, {"cpp2", "write"}, {"java2", "write"}});
  take_turns(200);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

// Our readers can not share the lock with kazoo's. A reader of kazoo's waits for writers behind it, too (kazoo 2.8,
// issue 649 there), and those writers wait for the reader.
BOOST_AUTO_TEST_CASE(we_and_kazoos_writers_that_know_our_names_contend) {
  open({{"cpp1", "read"}, {"python1", "write"}, {"cpp2", "write"}, {"python2", "write"}});
  take_turns(200);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
