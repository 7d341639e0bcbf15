// A hold that was lost with its session while its node still stands: a deposed leader can tell a client that its
// session has ended, although the other servers keep the session.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/read_write_lock.hpp>

#include "line/member_data.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct lost_hold : fake_session {
  lost_hold() : guarded(zk, "/g") {}

  ownership hold(bool reads) {
    connect();
    auto acquired = record<ownership>();
    reads ? guarded.async_acquire_read(acquired.token()) : guarded.async_acquire_write(acquired.token());
    settle();
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    answer(made);
    list({made.path.substr(3)});
    BOOST_TEST_REQUIRE(acquired.done());
    return std::move(acquired.result<0>());
  }

  read_write_lock guarded;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lost_holds, lost_hold)

BOOST_AUTO_TEST_CASE(a_readers_hold_is_not_upgraded_in_the_next_session) {
  auto held = hold(true);
  expire();
  auto alone = record<ownership>();
  guarded.async_try_upgrade(held, alone.token());
  settle();
  BOOST_TEST_REQUIRE(alone.done());
  BOOST_TEST((alone.error() == errc::session_expired), alone.error().message());
}

BOOST_AUTO_TEST_CASE(nor_is_a_writers_hold_downgraded) {
  auto held = hold(false);
  expire();
  auto lowered = record<>();
  guarded.async_downgrade(held, lowered.token());
  settle();
  BOOST_TEST_REQUIRE(lowered.done());
  BOOST_TEST((lowered.error() == errc::session_expired), lowered.error().message());
}

BOOST_AUTO_TEST_CASE(a_downgrade_by_another_object_keeps_the_name_of_the_owner) {
  auto held = hold(false);
  auto lowered = record<>();
  read_write_lock(zk, guarded.path(), {.id = "other"}).async_downgrade(held, lowered.token());
  settle();
  BOOST_TEST_REQUIRE(!pending().empty());
  const auto& set = last().pending.back().first;
  BOOST_TEST_REQUIRE((set.op == backend::opcode::set));
  BOOST_TEST(detail::member_id(set.data) == guarded.options().id);
}

BOOST_AUTO_TEST_SUITE_END()
