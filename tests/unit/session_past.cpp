// Servers that have gone back to an older state, as after the restore of a backup.
#include "unit/in_line.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct seen_state : fake_session {
  explicit seen_state(session_options with = usual()) : fake_session(std::move(with)) {
    accept(0x77);
    show(100);
  }
  /// The oldest request is answered by a server that has executed so many transactions.
  backend::request show(std::int64_t zxid, error_code error = {}) {
    return answer_with({.error = error, .zxid = zxid});
  }
  recorder<node_data> read() { return zk.async_get("/a", begun()); }
  /// The connection is lost, and a server takes the session up again whose state this is.
  void come_back(std::int64_t zxid, std::int64_t id = 0x77) {
    lose();
    accept(id);
    show(zxid);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(session_past)

BOOST_FIXTURE_TEST_CASE(servers_that_went_back_end_the_session_and_the_next_one_begins, seen_state) {
  read();
  show(120, errc::no_node);
  lose();
  auto waiting = read();
  accept(0x77);
  auto status = record<session_status>();
  zk.async_status_change(zk.status().changes, status.token());
  BOOST_TEST(last().pending.size() == 2u);
  show(119);
  BOOST_TEST_REQUIRE(status.done());
  BOOST_TEST((status.result<0>().state == session_state::expired));
  BOOST_TEST(!waiting.done(), "a read is tried again in the next session");
  BOOST_TEST((zk.valid_until() == lease_clock::time_point{}));
  BOOST_TEST(last().closing, "what the session owns there has to go");
  const auto connections = state().connections.size();
  lose(errc::closed);
  BOOST_TEST_REQUIRE(state().connections.size() == connections + 1, "without a pause");
  BOOST_TEST(last().options.key.id == 0);
  accept(0x88);
  show(130);
  BOOST_TEST(zk.status().incarnation == 2u);
  show(130);
  BOOST_TEST(waiting.done());
  come_back(125, 0x88);
  BOOST_TEST(last().closing, "again");
}

BOOST_FIXTURE_TEST_CASE(the_same_state_and_a_newer_one_are_no_past, seen_state) {
  come_back(100);
  come_back(101);
  come_back(0);  // not known
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().incarnation == 1u);
  BOOST_TEST(!last().closing);
}

BOOST_FIXTURE_TEST_CASE(a_new_session_has_seen_nothing_yet, seen_state) {
  lose();
  lose(errc::session_expired);
  accept(0x88);
  show(7);
  come_back(8, 0x88);
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().session_id == 0x88);
}

BOOST_FIXTURE_TEST_CASE(a_server_that_does_not_confirm_the_end_holds_nothing_up, seen_state) {
  come_back(99);
  BOOST_TEST(last().closing);
  const auto connections = state().connections.size();
  advance(5s);
  BOOST_TEST(state().connections.size() == connections + 1);
  BOOST_TEST(last().options.key.id == 0);
}

BOOST_FIXTURE_TEST_CASE(the_session_can_be_closed_meanwhile, seen_state) {
  come_back(99);
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST(closing.done());
}

BOOST_AUTO_TEST_CASE(that_servers_went_back_is_told) {
  std::vector<std::string> told;
  auto options = fake_session::usual();
  options.log = [&](const log_event& event) { told.push_back(to_string(event.event)); };
  seen_state it(options);
  it.come_back(99);
  BOOST_TEST((std::ranges::count(told, "set_back") == 1));
  BOOST_TEST((std::ranges::count(told, "incarnation_ended") == 1));
}

// A backup can bring a node of ours back without showing an older state: other transactions have come in its place.
BOOST_FIXTURE_TEST_CASE(a_node_of_ours_that_nobody_knows_does_not_stand_in_our_way, in_line) {
  auto released = release();
  const auto gone = own;
  answer();
  BOOST_TEST_REQUIRE(released.done());
  campaign.result<0>() = ownership();
  auto again = vote.async_campaign(begun());
  create(9);
  list({gone, own, "_c_" + std::string(18, '0') + "-0000-000000000000-latch-0000000003"});
  std::vector<std::string> removed;
  const auto is_left = [&] { return !pending().empty() && removed.empty(); };
  while (is_left()) {
    const auto what = answer_with({.stat = {.ephemeral_owner = 0x77}});
    if (what.op == backend::opcode::remove) removed.push_back(what.path);
  }
  BOOST_TEST(removed == strings{"/e/" + gone}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_node_of_another_session_is_left_alone_whatever_its_name, in_line) {
  auto released = release();
  const auto gone = own;
  answer();
  campaign.result<0>() = ownership();
  auto again = vote.async_campaign(begun());
  create(9);
  list({gone, own});
  for (int i = 0; i < 20 && !pending().empty(); ++i) {
    backend::reply found;
    found.stat.ephemeral_owner = 0x99;
    BOOST_TEST((answer(found).op != backend::opcode::remove));
  }
}

BOOST_AUTO_TEST_SUITE_END()
