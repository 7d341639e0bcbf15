// `zkadmin revoke` against real servers and real holders.
#include <sstream>

#include <boost/json/parse.hpp>

#include <zkrecipes/queue.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

const std::string deaf_data = R"({"zkrecipes":"member","id":"deaf","revocable":true})";

struct revoke_fixture : line_fixture {
  revoke_fixture() { leaves("/l"); }

  void release(ownership& held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }

  /// A holder that gives up when it is asked.
  void release_when_asked(ownership& held, recorder<>& asked) {
    held.async_revoked(asked.token());
    BOOST_TEST(run_until([&] { return asked.done(); }));
    BOOST_TEST(asked.error() == errc::revoked);
    release(held);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(revoke_suite, revoke_fixture)

// Without --rw it is shown, and it is what the library itself writes.
BOOST_AUTO_TEST_CASE(the_request_is_the_one_of_the_library) {
  const auto node = "/l/" + put("/l", "_c_x-lock-0000000001", deaf_data);
  for (const bool has_grace : {false, true}) {
    const auto shown = revoke("/l", has_grace ? words{"--grace", "5s"} : words{});
    BOOST_TEST(shown.code == 1);
    BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
    const auto before = get(node);
    lock line(zk(), "/l");
    const auto grace = has_grace ? 5000ms : std::chrono::milliseconds::max();
    BOOST_TEST(!std::get<0>(run(line.async_request_revocation(grace, tuple))));
    BOOST_TEST(shown.out == "set " + root() + node + " version=" + std::to_string(before.stat.version) +
                                " data=" + get(node).data + "\n");
  }
  remove(node);
}

BOOST_AUTO_TEST_CASE(a_holder_that_gives_up_is_followed_to_its_end) {
  auto held = hold("/l", "first");
  auto next = wait_in_line("/l", "second");
  recorder<> asked(executor());
  bool is_released = false;
  const auto result = revoke("/l", {"--rw", "--wait"}, [&](const std::string& out) {
    if (!has(out, "asked") || std::exchange(is_released, true)) return;
    held.async_revoked([&](const error_code&) { held.async_release([](const error_code&) {}); });
  });
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(result.err.starts_with("set " + root() + "/l/_c_"), result.err);
  BOOST_TEST(has(result.out, "    +0 ms  asked         first\n"), result.out);
  BOOST_TEST(has(result.out, "  gone          first\n"), result.out);
  BOOST_TEST(has(result.out, "\nfirst holds " + root() + "/l no more, "), result.out);
  BOOST_TEST(has(result.out, " after the request; second holds it\n"), result.out);
  BOOST_TEST(run_until([&] { return next.done(); }));
  auto taken = std::move(next.result<0>());
  release(taken);
}

BOOST_AUTO_TEST_CASE(without_wait_it_only_asks_and_a_second_request_is_not_repeated) {
  auto held = hold("/l", "me");
  const auto first = revoke("/l", {"--rw"});
  BOOST_TEST(first.code == 0, first.err);
  BOOST_TEST(first.out == "asked me to give up " + root() + "/l\n");
  const auto node = "/l/" + node_of("/l", "me");
  const auto written = get(node).stat.mzxid;
  BOOST_TEST(fails(revoke("/l", {"--rw"}), 1,
                   "me was asked to give up " + root() + "/l already, and still holds it: nothing was sent"));
  BOOST_TEST(get(node).stat.mzxid == written);
  recorder<> asked(executor());
  release_when_asked(held, asked);
}

BOOST_AUTO_TEST_CASE(a_holder_that_goes_on_loses_it_after_the_grace) {
  auto held = hold("/l", "me");
  const auto result = revoke("/l", {"--rw", "--wait", "--grace", "300ms", "-o", "ndjson"});
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(run_until([&] { return held.error() == errc::revoked; }));
  std::istringstream lines(result.out);
  std::vector<json::object> all;
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line).as_object());
  BOOST_TEST_REQUIRE(all.size() == 3u);
  BOOST_TEST((all[0].at("event") == "asked" && all[0].at("holder") == "me" && all[0].at("sent").as_bool()));
  BOOST_TEST((all[1].at("event") == "gone" && all[1].at("at_ms").as_int64() >= 300));
  BOOST_TEST((all[2].at("event") == "end" && all[2].at("done").as_bool()));
  BOOST_TEST((all[2].at("gone") == json::array{"me"} && all[2].at("holders") == json::array()));
  BOOST_TEST(all[2].at("problem").is_null());
}

BOOST_AUTO_TEST_CASE(a_deaf_holder_is_told_of_and_ended_by_force) {
  const auto name = put("/l", "_c_x-lock-0000000001", deaf_data);
  BOOST_TEST(fails(revoke("/l", {"--rw", "--wait", "--for", "500ms"}), 1,
                   "zkadmin: deaf still holds " + root() + "/l after 500 ms\n"));
  const words force{"--rw", "--wait", "--force", "--grace", "300ms"};
  auto unconfirmed = revoke("/l", force);
  BOOST_TEST(fails(unconfirmed, 1, "without a terminal to ask at, confirm with --yes " + root() + "/l\n"));
  auto with_yes = force;
  with_yes.insert(with_yes.end(), {"--yes", root() + "/other"});
  BOOST_TEST(revoke("/l", with_yes).code == 2);
  BOOST_TEST(contains("/l/" + name));
  with_yes.back() = root() + "/l";
  const auto forced = revoke("/l", with_yes);
  BOOST_TEST(forced.code == 0, forced.err);
  BOOST_TEST(has(forced.err, "after 300 ms, if it is still there: delete " + root() + "/l/" + name + "\n"), forced.err);
  BOOST_TEST(has(forced.err, "zkadmin: ended the place of deaf at " + root() + "/l\n"), forced.err);
  BOOST_TEST(has(forced.out, "deaf holds " + root() + "/l no more"), forced.out);
  BOOST_TEST(has(forced.out, "nobody holds it\n"), forced.out);
  BOOST_TEST(!contains("/l/" + name));
}

BOOST_AUTO_TEST_CASE(the_path_can_be_typed_and_a_new_holder_is_left_alone) {
  auto held = hold("/l", "first");
  auto next = wait_in_line("/l", "second");
  pseudo_terminal terminal(io(), 200, 40);
  terminal.start({ZKADMIN_PROGRAM, "revoke", root() + "/l", "--rw", "--wait", "--force", "--grace", "20s"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(terminal.shows("Type the path to do this:"));
  release(held);
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  terminal.type(root() + "/l\r");
  BOOST_TEST(terminal.shows("have changed: nothing was sent"));
  BOOST_TEST(terminal.exit_code() == 1);
  auto taken = std::move(next.result<0>());
  BOOST_TEST(!taken.error());
  release(taken);
}

BOOST_AUTO_TEST_CASE(readers_are_asked_together_and_one_alone) {
  std::vector<ownership> held;
  for (const char* id : {"a", "b"}) {
    read_write_lock both(zk(), "/l", {.id = id});
    auto read = run(both.async_acquire_read(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(read));
    held.push_back(std::move(std::get<1>(read)));
  }
  recorder<> first(executor()), second(executor());
  held[0].async_revoked(first.token());
  held[1].async_revoked(second.token());
  const auto one = revoke("/l", {"--rw", "--of", "b"});
  BOOST_TEST(one.code == 0, one.err);
  BOOST_TEST(one.out == "asked b to give up " + root() + "/l\n");
  BOOST_TEST(run_until([&] { return second.done(); }));
  BOOST_TEST(!first.done());
  const auto all = revoke("/l", {"--rw"});
  BOOST_TEST(all.code == 0, all.err);
  BOOST_TEST(run_until([&] { return first.done(); }));
  BOOST_TEST(first.error() == errc::revoked);
  for (auto& each : held) release(each);
}

BOOST_AUTO_TEST_CASE(a_permit_is_asked_for_although_its_data_is_plain) {
  semaphore two(zk(), "/l", 2, {.id = "me"});
  auto permit = run(two.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(permit));
  auto held = std::move(std::get<1>(permit));
  BOOST_TEST(get("/l/" + children("/l").at(0)).data == "me");
  const auto result = revoke("/l", {"--rw", "--wait", "--grace", "200ms"});
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(run_until([&] { return held.error() == errc::revoked; }));
}

BOOST_AUTO_TEST_CASE(foreign_holders_keep_their_data_unless_curators_form_is_asked_for) {
  auto node = "/l/" + put("/l", "_c_5e1f-lock-0000000001", "10.0.0.1");
  const auto refused = revoke("/l", {"--rw"});
  BOOST_TEST(fails(refused, 1, "10.0.0.1 can not be asked to give up: its data does not say that it listens"));
  BOOST_TEST(has(refused.err, "--curator writes Curator's request in place of its data: nothing was sent"),
             refused.err);
  BOOST_TEST(get(node).stat.version == 0);
  const auto asked = revoke("/l", {"--rw", "--curator"});
  BOOST_TEST(asked.code == 0, asked.err);
  BOOST_TEST(has(asked.err, "set " + root() + node + " version=0 data=__REVOKE__\n"), asked.err);
  BOOST_TEST(get(node).data == "__REVOKE__");
  BOOST_TEST(revoke("/l", {"--rw", "--curator"}).code == 1, "it has been asked already");
  remove(node);
  node = "/l/" + put("/l", "1f0c__lock__0000000001", "host");
  BOOST_TEST(
      fails(revoke("/l", {"--rw", "--curator"}), 1, "host can not be asked to give up: it is a client of kazoo"));
  BOOST_TEST(get(node).stat.version == 0);
  const auto forced = revoke("/l", {"--rw", "--wait", "--force", "--grace", "100ms", "--yes", root() + "/l"});
  BOOST_TEST(forced.code == 0, forced.err);
  BOOST_TEST(has(forced.err, "nothing: host can not be asked: it is a client of kazoo"), forced.err);
  BOOST_TEST(!contains(node));
}

BOOST_AUTO_TEST_CASE(what_has_no_holder_to_be_asked) {
  create("/l");
  BOOST_TEST(fails(revoke("/l", {"--rw"}), 1, "nothing tells what " + root() + "/l is; name its kind with --kind"));
  BOOST_TEST(fails(revoke("/l", {"--rw", "--kind", "lock"}), 1, "nobody holds " + root() + "/l\n"));
  BOOST_TEST(fails(revoke("/missing", {"--rw"}), 1, "there is no node " + root() + "/missing\n"));
  auto held = hold("/l", "first");
  auto next = wait_in_line("/l", "second");
  BOOST_TEST(
      fails(revoke("/l", {"--rw", "--of", "second"}), 1, "second waits at " + root() + "/l, and does not hold it"));
  BOOST_TEST(has(revoke("/l", {"--rw", "--of", "third"}).err, "third is not in line at "));
  next.cancel();
  BOOST_TEST(run_until([&] { return next.done(); }));
  release(held);
}

BOOST_AUTO_TEST_CASE(elections_and_other_recipes_are_refused) {
  auto& leader = join("/e", "a");
  leaves("/e");
  BOOST_TEST(run_until([&] { return leader.leads; }));
  BOOST_TEST(
      fails(revoke("/e", {"--rw"}), 1, "ask its leader with `zkadmin resign " + root() + "/e`: nothing was sent"));
  put("/l", "qn-0000000000", "item");
  BOOST_TEST(fails(revoke("/l", {"--rw"}), 1, "/l is a queue, and has no line of members that could be changed"));
  remove("/l/qn-0000000000");
  BOOST_TEST(!std::get<0>(run(zk().async_set("/l", "{\"other\":1}", any_version, tuple))));
  BOOST_TEST(fails(revoke("/l", {"--rw", "--kind", "semaphore"}), 1,
                   "holds data that is not this recipe's: nothing was sent"));
}

BOOST_AUTO_TEST_CASE(what_is_not_allowed) {
  create("/l");
  const std::string node = "/l/_c_x-lock-0000000001";
  const acl readable{{perm_read, "world", "anyone"}}, writable{{perm_write, "world", "anyone"}};
  BOOST_TEST(!std::get<0>(run(zk().async_create(node, deaf_data, create_mode::persistent, readable, tuple))));
  BOOST_TEST(fails(revoke("/l", {"--rw"}), 5, "sending the request: not allowed; give credentials"));
  remove(node);
  BOOST_TEST(!std::get<0>(run(zk().async_create(node, deaf_data, create_mode::persistent, writable, tuple))));
  BOOST_TEST(
      fails(revoke("/l", {"--rw"}), 5, "can not be asked to give up: its data may not be read: nothing was sent"));
  remove(node);
}

BOOST_AUTO_TEST_CASE(a_lost_answer_tells_what_is_seen_afterwards) {
  const auto node = "/l/" + put("/l", "_c_x-lock-0000000001", deaf_data);
  const words through_proxy{"--rw", "--hosts", own().address()};
  own().drop_request(testcluster::op::multi);
  const auto before = revoke("/l", through_proxy);
  BOOST_TEST(fails(before, 1, "sending the request: "));
  BOOST_TEST(has(before.err, node + " is as it was\n"), before.err);
  BOOST_TEST(get(node).stat.version == 0);
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(fails(revoke("/l", through_proxy), 1, node + " holds what was to be written\n"));
  BOOST_TEST(get(node).stat.version == 1);
  remove(node);
}

BOOST_AUTO_TEST_CASE(a_name_of_any_bytes) {
  const std::string name = "_c_\u202eev\u00e9-lock-0000000001";
  const auto node = "/l/" + put("/l", name, "{\"zkrecipes\":\"member\",\"id\":\"\\u001b[2J\",\"revocable\":true}");
  const auto shown = revoke("/l", {"--of", name});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out.starts_with("set " + root() + "/l/_c_\ufffdev\u00e9-lock-0000000001 version=0 data="),
             shown.out);
  BOOST_TEST(shown.out.find('\x1b') == std::string::npos);
  const auto sent = revoke("/l", {"--of", name, "--rw"});
  BOOST_TEST(sent.code == 0, sent.err);
  BOOST_TEST(get(node).stat.version == 1);
  remove(node);
}

BOOST_AUTO_TEST_SUITE_END()
