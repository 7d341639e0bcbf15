// `zkadmin expire` against real servers.
#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "base/text.hpp"
#include "live/admin_fixture.hpp"
#include "sessions/session_end.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

std::string shown(std::int64_t session) { return zkadmin::hexadecimal(static_cast<std::uint64_t>(session)); }

struct expire_fixture : admin_fixture {
  std::int64_t leader_session() { return get("/e/" + children("/e").at(0)).stat.ephemeral_owner; }
  program_result expire(std::int64_t session, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"expire", shown(session), "--because", "the machine is fenced"});
    return zkadmin(std::move(more));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(expire_suite, expire_fixture)

BOOST_AUTO_TEST_CASE(without_rw_nothing_is_sent) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const auto session = leader_session();
  const auto before = get("/e").data;
  const auto result = expire(session);
  BOOST_TEST(result.code == 1);
  const auto node = children("/e").at(0);
  BOOST_TEST(result.out ==
             "set " + root() + "/e phase=died, if it names " + node + "\nclose session " + shown(session) + "\n");
  BOOST_TEST(result.err.starts_with("zkadmin: nothing was sent"));
  BOOST_TEST(get("/e").data == before);
  BOOST_TEST(leader_session() == session);
}

BOOST_AUTO_TEST_CASE(the_leader_is_followed_by_one_that_takes_it_for_dead) {
  const auto far = connect_far();
  join("/e", "a", far);
  leaves("/e");
  election("/e", is_executing);
  const auto session = leader_session();
  join("/e", "b");
  disconnect(far);  // it is fenced: a process that can reach a server takes its session back
  const auto result = expire(session, {"--rw"});
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(
      result.out.find("because: the machine is fenced; 1 terms have died, 0 were left alone") != std::string::npos,
      result.out);
  const auto next = election("/e", [](const auto& each) { return each.at("epoch") == 2 && is_executing(each); });
  BOOST_TEST(next.at("takeover") == "died");
  reconnect();
  const auto again = expire(session, {"--rw"});
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err.find("is over already, or was never there: nothing was written") != std::string::npos,
             again.err);
}

BOOST_AUTO_TEST_CASE(the_password_is_the_one_of_the_servers) {
  const auto password = zkadmin::password_of(0x300002b42690002);  // a session of ZooKeeper 3.8, and what it was given
  BOOST_TEST(password == "\x97\x36\xc8\xd9\xc6\xd0\xcb\x80\x79\xf4\x1d\x41\x18\x45\x62\xce");
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  for (const auto* each : {"", "0", "x", "0x", "12g", "0x11223344556677889"}) {
    const auto result = zkadmin({"expire", each, "--because", "x"});
    BOOST_TEST(result.code == 2, each);
    BOOST_TEST(result.err.find("session id in hex") != std::string::npos, result.err);
  }
  BOOST_TEST(zkadmin({"expire", "0x1"}).code == 2);
  BOOST_TEST(zkadmin({"expire", "0x1", "--because", ""}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
