// `zkadmin evict` against real servers, with real holders and waiters.
#include <zkrecipes/queue.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "change/waiting_line.hpp"
#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct evict_fixture : line_fixture {
  evict_fixture() { leaves("/l"); }

  void release(ownership& held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }
  bool ends_with(recorder<ownership>& waiting, error_code why) {
    return run_until([&] { return waiting.done(); }) && waiting.error() == why;
  }
  bool gets(recorder<ownership>& waiting) { return ends_with(waiting, error_code()); }
  zkadmin::intervention prepared(zkadmin::eviction_choice choice) {
    return run(zkadmin::prepare_eviction(zk(), "/l", {}, std::move(choice), std::chrono::steady_clock::now() + 20s));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(evict_suite, evict_fixture)

BOOST_AUTO_TEST_CASE(a_waiter_is_told_and_the_others_keep_their_places) {
  auto held = hold("/l", "first");
  auto second = wait_in_line("/l", "second");
  auto third = wait_in_line("/l", "third");
  const auto node = node_of("/l", "second");
  const auto shown = evict("/l", {"--node", node});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out ==
             "check " + root() + "/l/" + node_of("/l", "first") + "\ndelete " + root() + "/l/" + node + " version=0\n");
  BOOST_TEST(contains("/l/" + node));
  const auto done = evict("/l", {"--id", "second", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "took second out of the line at " + root() + "/l\n");
  BOOST_TEST(ends_with(second, errc::node_removed));
  BOOST_TEST(!third.done());
  BOOST_TEST(!held.error());
  release(held);
  BOOST_TEST(gets(third));
  release(third.result<0>());
}

BOOST_AUTO_TEST_CASE(the_holder_is_refused_unless_it_is_forced_and_confirmed) {
  auto held = hold("/l", "first");
  auto second = wait_in_line("/l", "second");
  const auto node = root() + "/l/" + node_of("/l", "first");
  BOOST_TEST(
      fails(evict("/l", {"--id", "first", "--rw"}), 1, "first holds " + root() + "/l; ask it with `zkadmin revoke`"));
  BOOST_TEST(fails(evict("/l", {"--id", "first", "--rw", "--force"}), 1, "confirm with --yes " + node + "\n"));
  BOOST_TEST(evict("/l", {"--id", "first", "--rw", "--force", "--yes", root() + "/l"}).code == 2);
  BOOST_TEST(!held.error());
  const auto forced = evict("/l", {"--id", "first", "--rw", "--force", "--yes", node});
  BOOST_TEST(forced.code == 0, forced.err);
  BOOST_TEST(forced.out == "ended the place of first at " + root() + "/l\n");
  BOOST_TEST(run_until([&] { return held.error() == errc::node_removed; }));
  BOOST_TEST(gets(second));
  release(second.result<0>());
}

BOOST_AUTO_TEST_CASE(the_path_is_typed) {
  auto held = hold("/l", "first");
  const auto node = root() + "/l/" + node_of("/l", "first");
  for (const auto& typed : {root() + "/l", node}) {
    pseudo_terminal terminal(io(), 200, 40);
    terminal.start({ZKADMIN_PROGRAM, "evict", root() + "/l", "--id", "first", "--rw", "--force"},
                   {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
    BOOST_TEST(terminal.shows("Type the path to do this:"));
    terminal.type(typed + "\r");
    BOOST_TEST(terminal.exit_code() == (typed == node ? 0 : 1));
  }
  BOOST_TEST(run_until([&] { return held.error() == errc::node_removed; }));
}

// The waiter becomes the holder between the read and the request: the servers refuse the request.
BOOST_AUTO_TEST_CASE(who_holds_by_now_is_left_alone) {
  auto held = hold("/l", "first");
  auto second = wait_in_line("/l", "second");
  auto change = prepared({.id = "second"});
  release(held);
  BOOST_TEST_REQUIRE(gets(second));
  BOOST_TEST(failure_of(change) == "the line has just moved on: nothing was deleted, look again");
  BOOST_TEST(!second.result<0>().error());
  release(second.result<0>());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_gone_or_changed_or_another_one) {
  auto held = hold("/l", "first");
  const std::string node = "_c_x-lock-0000000009";
  put("/l", node, "x");
  auto gone = prepared({.node = node});
  remove("/l/" + node);
  BOOST_TEST(failure_of(gone) == "the line has just moved on: nothing was deleted, look again");
  put("/l", node, "y");
  BOOST_TEST(failure_of(gone) == "a node in line has just been written: nothing was deleted, look again",
             "another node of the same name and version");
  auto changed = prepared({.node = node});
  BOOST_TEST(!std::get<0>(run(zk().async_set("/l/" + node, "z", any_version, tuple))));
  BOOST_TEST(failure_of(changed) == "a node in line has just been written: nothing was deleted, look again");
  BOOST_TEST(failure_of(prepared({.node = node})) == "");
  BOOST_TEST(!contains("/l/" + node));
  release(held);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_named) {
  auto held = hold("/l", "same");
  auto waiting = wait_in_line("/l", "same");
  create("/l/notes");
  BOOST_TEST(fails(evict("/l", {"--node", "_c_y-lock-0000000007", "--rw"}), 4,
                   "_c_y-lock-0000000007 does not stand in line at " + root() + "/l\n"));
  BOOST_TEST(fails(evict("/l", {"--node", "notes", "--rw", "--force", "--yes", root() + "/l/notes"}), 1,
                   "/l/notes is no member of the lock: nothing was sent"));
  BOOST_TEST(fails(evict("/l", {"--id", "same", "--rw"}), 1, "2 members have the id same; name the node of one: _c_"));
  BOOST_TEST(fails(evict("/l", {"--id", "other", "--rw"}), 1, "nobody in line at " + root() + "/l has the id other\n"));
  BOOST_TEST(children("/l").size() == 3u);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  remove("/l/notes");
  release(held);
}

BOOST_AUTO_TEST_CASE(readers_writers_and_permits) {
  read_write_lock reader(zk(), "/l", {.id = "reader"}), writer(zk(), "/l", {.id = "writer"}),
      late(zk(), "/l", {.id = "late"});
  auto read = run(reader.async_acquire_read(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(read));
  recorder<ownership> writing(executor()), reading(executor());
  writer.async_acquire_write(writing.token());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/l").size() == 2; }));
  late.async_acquire_read(reading.token());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/l").size() == 3; }));
  BOOST_TEST(has(evict("/l", {"--id", "reader", "--rw"}).err, "reader holds "));
  // A reader waits for the writer ahead, not for the reader in front.
  const auto shown = evict("/l", {"--id", "late"});
  BOOST_TEST(shown.out.starts_with("check " + root() + "/l/" + node_of("/l", "writer") + " version=0\n"), shown.out);
  BOOST_TEST(evict("/l", {"--id", "late", "--rw"}).code == 0);
  BOOST_TEST(ends_with(reading, errc::node_removed));
  // The reader and the writer are of one session, so it may have become a writer.
  BOOST_TEST(fails(evict("/l", {"--id", "writer", "--rw"}), 1, "it is not known for certain that writer waits at "));
  const auto node = root() + "/l/" + node_of("/l", "writer");
  BOOST_TEST(evict("/l", {"--id", "writer", "--rw", "--force", "--yes", node}).code == 0);
  BOOST_TEST(ends_with(writing, errc::node_removed));
  release(std::get<1>(read));
}

BOOST_AUTO_TEST_CASE(a_reader_that_has_become_a_writer_holds) {
  read_write_lock both(zk(), "/l", {.id = "both"});
  auto read = run(both.async_acquire_read(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(read));
  auto written = run(both.async_try_upgrade(std::get<1>(read), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(written));
  const auto& path = std::get<1>(written).path();
  const auto writer = path.substr(path.rfind('/') + 1);
  BOOST_TEST(fails(evict("/l", {"--node", writer, "--rw"}), 1, "it is not known for certain that both waits at "));
  BOOST_TEST(!std::get<1>(written).error());
  release(std::get<1>(written));
  release(std::get<1>(read));
}

BOOST_AUTO_TEST_CASE(a_waiter_for_permits_becomes_a_holder_by_a_resize) {
  semaphore two(zk(), "/l", 2, {.id = "first"}), more(zk(), "/l", 2, {.id = "second"});
  auto permit = run(two.async_acquire(2, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(permit));
  recorder<ownership> waiting(executor());
  more.async_acquire(waiting.token());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/l").size() == 2; }));
  auto change = prepared({.id = "second"});
  const auto& requests = change.requests.operations();
  BOOST_TEST_REQUIRE(requests.size() == 3u);
  BOOST_TEST(requests[0].path == "/l");
  BOOST_TEST(!std::get<0>(run(two.async_resize(3, tuple))));
  BOOST_TEST(gets(waiting));
  BOOST_TEST(failure_of(change) == "a node in line has just been written: nothing was deleted, look again");
  BOOST_TEST(!waiting.result<0>().error());
  release(waiting.result<0>());
  release(std::get<1>(permit));
}

BOOST_AUTO_TEST_CASE(a_candidate_that_waits) {
  create("/l");
  auto& leader = join("/e", "a");
  auto& next = join("/e", "b");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads; }));
  const auto first = evict("/e", {"--id", "a", "--rw"});
  BOOST_TEST(first.code == 1);
  BOOST_TEST(
      has(first.err, "a is first in line at " + root() + "/e, and leads or is about to; ask it with `zkadmin resign`"),
      first.err);
  const auto node = "/e/" + node_of("/e", "b");
  BOOST_TEST(evict("/e", {"--id", "b", "--rw"}).code == 0);
  BOOST_TEST(run_until([&] { return !contains(node); }));
  BOOST_TEST(leader.leads);
  // Its coordinator gets in line again, as after each loss.
  BOOST_TEST(run_until([&] { return children("/e").size() == 2; }));
  BOOST_TEST(!next.leads);
}

BOOST_AUTO_TEST_CASE(foreign_layouts) {
  put("/l", "1f0c__lock__0000000001", "host1");
  put("/l", "2f0c__lock__0000000002", "host2");
  const auto kazoos = evict("/l", {"--id", "host2", "--rw"});
  BOOST_TEST(kazoos.code == 0, kazoos.err);
  BOOST_TEST(has(evict("/l", {"--id", "host1", "--rw"}).err, "host1 holds "));
  clear("/l");
  create("/l");
  create("/l/leases");
  put("/l/leases", "_c_5f6a-lease-0000000001", "10.0.0.1");
  BOOST_TEST(fails(evict("/l", {"--node", "leases", "--rw"}), 1,
                   "is a semaphore of Curator, whose nodes do not tell who waits"));
  clear("/l/leases");
}

BOOST_AUTO_TEST_CASE(what_is_not_allowed_is_not_known_for_certain) {
  create("/l");
  const acl closed{{perm_write, "world", "anyone"}};
  const std::string first = "/l/_c_x-lock-0000000001", second = put("/l", "_c_y-lock-0000000002", "y");
  BOOST_TEST(!std::get<0>(run(zk().async_create(first, "x", create_mode::persistent, closed, tuple))));
  BOOST_TEST(fails(evict("/l", {"--id", "y", "--rw"}), 1, "it is not known for certain that y waits at "));
  remove(first);
  put("/l", "_c_x-lock-0000000001", "x");
  set_rights("/l", {{perm_read | perm_create | perm_admin, "world", "anyone"}},
             transaction().create("/l/probe").remove("/l/probe"), false);
  BOOST_TEST(fails(evict("/l", {"--id", "y", "--rw"}), 5, "sending the request: not allowed; give credentials"));
  BOOST_TEST(contains("/l/" + second));
  set_rights("/l", open_acl(), transaction().create("/l/probe").remove("/l/probe"), true);
  for (const auto& each : children("/l")) remove("/l/" + each);
}

BOOST_AUTO_TEST_CASE(a_lost_answer_tells_what_is_seen_afterwards) {
  put("/l", "_c_x-lock-0000000001", "x");
  const auto node = "/l/" + put("/l", "_c_y-lock-0000000002", "y");
  const words through_proxy{"--id", "y", "--rw", "--hosts", own().address()};
  own().drop_request(testcluster::op::multi);
  BOOST_TEST(fails(evict("/l", through_proxy), 1, node + " is as it was\n"));
  BOOST_TEST(contains(node));
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(fails(evict("/l", through_proxy), 1, node + " has gone since\n"));
  BOOST_TEST(!contains(node));
  remove("/l/_c_x-lock-0000000001");
}

BOOST_AUTO_TEST_CASE(a_name_of_any_bytes_in_a_long_line) {
  put("/l", "_c_x-lock-0000000001", "x");
  const std::string name = "_c_\u202e\u00e9-lock-0000000777";
  put("/l", name, "\x1b[2J");
  const auto shown = evict("/l", {"--node", name});
  BOOST_TEST(has(shown.out, "delete " + root() + "/l/_c_\ufffd\u00e9-lock-0000000777 version=0\n"), shown.out);
  const auto done = evict("/l", {"--node", name, "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "took \ufffd[2J out of the line at " + root() + "/l\n");
  remove("/l/_c_x-lock-0000000001");
}

BOOST_AUTO_TEST_SUITE_END()
