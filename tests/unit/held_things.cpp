// `error()` of what is held says why where `valid()` is false, and is clear where it is true.
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/multi_lock.hpp>

#include "unit/in_line.hpp"
#include "unit/shared_gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

error_code why_not(const ownership& held) {
  BOOST_TEST(held.valid() == !held.error());
  return held.error();
}

error_code why_not(const multi_ownership& held) {
  BOOST_TEST(held.valid() == !held.error());
  return held.error();
}

error_code why_not(const shared_gate_pass& held) {
  BOOST_TEST(held.valid() == !held.error());
  return held.error();
}

/// It has no `valid`.
error_code why_not(const attendance& held) { return held.error(); }

/// The ways in which a hold ends without a word of the servers.
template <class Held>
void check_ends(fake_session& at, const Held& held, lease_clock::time_point until) {
  BOOST_TEST(!why_not(held));
  const auto before = at.now();
  // The process was paused: nothing has run since that could have noticed the end of the lease.
  at.state().now = until - 1ns;
  BOOST_TEST(!why_not(held));
  at.state().now = until;
  BOOST_TEST((why_not(held) == errc::lease_lapsed));
  at.state().now = before;
  BOOST_TEST(!why_not(held));
  at.zk.async_close([](error_code) {});
  at.settle();
  BOOST_TEST((why_not(held) == errc::closed));
}

struct owning : in_line {
  owning() {
    lead();
    BOOST_TEST_REQUIRE(campaign.done());
  }
  const ownership& held() { return campaign.result<0>(); }
};

struct held_locks : fake_session {
  held_locks() : both(zk, {"/a", "/b"}), acquired(record<multi_ownership>()) {
    connect();
    both.async_acquire(acquired.token());
    settle();
    for (int i = 0; i < 2; ++i) {
      backend::reply made;
      made.path = last().pending.front().first.path + "0000000007";
      made.stat.czxid = 107;
      made.stat.ephemeral_owner = 0x77;
      const auto name = made.path.substr(3);
      answer(made);
      list({name});
      while (!pending().empty() && pending().front().starts_with("get")) answer();
    }
    BOOST_TEST_REQUIRE(acquired.done());
  }
  const multi_ownership& held() { return acquired.result<0>(); }

  multi_lock both;
  recorder<multi_ownership> acquired;
};

struct in_gate : shared_gate_case {
  in_gate() {
    enter();
    create(7);
    list({own});
    own_node_is_there();
    BOOST_TEST_REQUIRE(succeeded(entry));
  }
  const shared_gate_pass& held() { return entry.result<0>(); }
};

struct attending : fake_session {
  attending() : barrier(zk, "/b", 1), entering(record<attendance>()) {
    connect();
    barrier.async_enter(entering.token());
    settle();
    std::string own;
    while (!last().pending.empty()) {
      const auto asked = last().pending.front().first;
      backend::reply reply;
      if (asked.op == backend::opcode::create) own = reply.path = asked.path + "0000000001";
      if (asked.op == backend::opcode::children) reply.children = {own.substr(3)};
      if (asked.op == backend::opcode::multi) reply.results.resize(asked.operations.size());
      reply.stat.ephemeral_owner = 0x77;
      answer(std::move(reply));
    }
    BOOST_TEST_REQUIRE(succeeded(entering));
  }
  const attendance& held() { return entering.result<0>(); }

  double_barrier barrier;
  recorder<attendance> entering;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(held_things)

BOOST_AUTO_TEST_CASE(what_holds_nothing_says_so) {
  BOOST_TEST((why_not(ownership()) == errc::closed));
  BOOST_TEST((why_not(multi_ownership()) == errc::closed));
  BOOST_TEST((why_not(shared_gate_pass()) == errc::closed));
  BOOST_TEST((why_not(attendance()) == errc::closed));
}

BOOST_FIXTURE_TEST_CASE(an_ownership_says_why_it_is_not_valid, owning) {
  check_ends(*this, held(), held().valid_until());
}

BOOST_FIXTURE_TEST_CASE(several_locks_say_why_they_are_not_valid, held_locks) {
  check_ends(*this, held(), held().valid_until());
}

BOOST_FIXTURE_TEST_CASE(a_pass_of_a_shared_gate_says_why_it_is_not_valid, in_gate) {
  check_ends(*this, held(), held().valid_until());
}

BOOST_FIXTURE_TEST_CASE(an_attendance_says_why_it_has_ended, attending) { check_ends(*this, held(), zk.valid_until()); }

BOOST_FIXTURE_TEST_CASE(a_pass_that_has_taken_too_long_says_so_before_anybody_has_noticed, in_gate) {
  live(1h - 1s);
  BOOST_TEST(!why_not(held()));
  state().now += 1s;
  BOOST_TEST((why_not(held()) == errc::revoked));
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_session_is_the_reason, owning) {
  expire();
  BOOST_TEST((why_not(held()) == errc::session_expired));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_removed_is_the_reason, owning) {
  fire(backend::change::deleted, "/e/" + own);
  fail(errc::no_node);
  BOOST_TEST((why_not(held()) == errc::node_removed));
}

BOOST_AUTO_TEST_SUITE_END()
