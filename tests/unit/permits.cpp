// A semaphore's arithmetic: its record, which members fit, and which members to wait for.
#include <algorithm>

#include <zkrecipes/semaphore.hpp>

#include "line/line_spec.hpp"
#include "semaphore/semaphore.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

std::string permit(int weight, int number) {
  return protected_name("a0000000-0000-0000-0000-000000000000", std::to_string(weight) + "-permit-") + "000000000" +
         std::to_string(number);
}

std::vector<member> line(std::initializer_list<int> weights) {
  std::vector<member> all;
  for (int weight : weights) {
    const auto number = static_cast<int>(all.size());
    all.push_back({permit(weight, number), number});
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_rules)

BOOST_AUTO_TEST_CASE(the_record_is_read_as_it_was_written) {
  for (const auto& record : {permit_record{3}, permit_record{1, 7, 9}, permit_record{semaphore::max_permits, 1}}) {
    const auto read = parse_permits(serialize(record));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST((*read == record));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_record_is_not_read_as_one) {
  for (auto bad : {"", "3", "{", "[]", "{}", R"({"recipe":"semaphore"})", R"({"recipe":"lock","size":3})",
                   R"({"recipe":7,"size":3})", R"({"recipe":"semaphore","size":0})",
                   R"({"recipe":"semaphore","size":-1})", R"({"recipe":"semaphore","size":1000001})",
                   R"({"recipe":"semaphore","size":"3"})", R"({"recipe":"semaphore","size":3.5})"}) {
    BOOST_TEST(!parse_permits(bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_name_tells_the_weight_and_a_foreign_one_weighs_nothing) {
  BOOST_TEST(weight_of(permit(1, 0)) == 1);
  BOOST_TEST(weight_of(permit(250, 0)) == 250);
  for (auto foreign : {"", "x-permit-0000000001", "_c_00000000-0000-0000-0000-000000000000-permit-0000000001"}) {
    BOOST_TEST(weight_of(foreign) == 0, foreign);
  }
  BOOST_TEST(weight_of(permit(0, 1)) == 0);
  BOOST_TEST(weight_of(permit(-1, 1)) == 0);
  BOOST_TEST(weight_of(permit(1000001, 1)) == 0);
}

BOOST_AUTO_TEST_CASE(whoever_fits_from_the_front_holds) {
  const auto all = line({1, 2, 1, 3, 1});
  BOOST_TEST(!who_fills(all, 0, {4}));
  BOOST_TEST(!who_fills(all, 2, {4}));
  BOOST_TEST((who_fills(all, 3, {4}) == stretch(0, 3)), "the first who waits watches all that hold");
  BOOST_TEST((who_fills(all, 4, {4}) == stretch(3)), "though there would be room: who is ahead comes first");
}

BOOST_AUTO_TEST_CASE(who_is_behind_one_that_was_let_in_watches_the_holders) {
  auto all = line({2, 2, 1});
  BOOST_TEST((who_fills(all, 2, {3}) == stretch(1)));
  all[1].lets_pass = true;
  BOOST_TEST((who_fills(all, 2, {3}) == stretch(0, 2)));
}

// After a resize from four permits to two, some who hold from before may not be marked as holders, because the resizer
// may have died before it marked them.
BOOST_AUTO_TEST_CASE(who_is_behind_one_that_may_hold_since_there_were_more_watches_them_all) {
  auto all = line({1, 1, 1, 1, 1, 1});
  BOOST_TEST((who_fills(all, 4, {2}) == stretch(3)));
  BOOST_TEST((who_fills(all, 4, permit_record{2, 4, 4}) == stretch(0, 4)));
  BOOST_TEST((who_fills(all, 5, permit_record{2, 4, 4}) == stretch(4)), "whom it is behind did surely not fit");
}

BOOST_AUTO_TEST_CASE(who_asks_for_more_than_there_is_waits_for_nobody) { BOOST_TEST(!who_fills(line({1, 5}), 1, {4})); }

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// An acquisition that waits, because all permits of the semaphore are taken.
struct waiting_case : zkrecipes::test::fake_session {
  explicit waiting_case(std::int32_t size = 1, strings holders = {permit(1, 3)})
      : all(zk, "/s", size), acquiring(record<ownership>()) {
    get_in();
    list(with_own(holders));
    answer(sized(size));  // the semaphore's node, read on the way in
    while (!pending().empty()) answer(pending().front() == "get /s" ? sized(size) : backend::reply());
    CHECK_PENDING();
  }
  /// Selects the state before the acquisition has a list.
  struct newcomer {};
  waiting_case(newcomer, std::int32_t size) : all(zk, "/s", size), acquiring(record<ownership>()) { get_in(); }

  void get_in() {
    connect();
    all.async_acquire(1, acquiring.token());
    settle();
    backend::reply made;
    own = last().pending.front().first.path + "0000000007";
    made.path = own;
    made.stat.czxid = 107;
    made.stat.ephemeral_owner = 0x77;
    answer(made);
  }
  strings with_own(strings holders) const {
    holders.push_back(own.substr(3));
    return holders;
  }
  static backend::reply sized(std::int32_t size, std::int32_t before = 0) {
    backend::reply found;
    found.data = serialize(permit_record{size, before});
    return found;
  }

  std::string own;
  semaphore all;
  zkrecipes::test::recorder<ownership> acquiring;
};

struct behind_two : waiting_case {
  behind_two() : waiting_case(2, {permit(1, 3), permit(1, 4)}) {}
};

struct without_a_list : waiting_case {
  without_a_list() : waiting_case(newcomer(), 2) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(permit_waits, waiting_case)

BOOST_AUTO_TEST_CASE(a_size_that_is_changed_while_we_wait_lets_us_in) {
  fire(backend::change::data, "/s");
  CHECK_PENDING("get /s");
  answer(sized(1));
  BOOST_TEST(!acquiring.done());
  fire(backend::change::data, "/s");
  CHECK_PENDING("get /s");
  answer(sized(2));
  BOOST_TEST_REQUIRE(succeeded(acquiring));
}

BOOST_AUTO_TEST_CASE(a_size_that_the_server_does_not_show_is_asked_for_again) {
  fire(backend::change::data, "/s");
  CHECK_PENDING("get /s");
  for (const auto why : {errc::server_error, errc::no_auth, errc::no_node}) {
    fail(why);
    CHECK_PENDING();
    advance(700ms);
    CHECK_PENDING("get /s");
  }
  throttle();
  advance(75ms);
  CHECK_PENDING("get /s");
  BOOST_TEST(!acquiring.done());
  answer(sized(2));
  BOOST_TEST_REQUIRE(succeeded(acquiring));
}

// While a changed size is read again the old size must not let us in: the new size is one, and we would hold beside the
// holder that stays.
BOOST_FIXTURE_TEST_CASE(a_departure_while_the_size_is_read_again_lets_nobody_in_by_the_old_one, behind_two) {
  fire(backend::change::data, "/s");
  CHECK_PENDING("get /s");
  fire(backend::change::deleted, "/s/" + permit(1, 3));
  BOOST_TEST(!acquiring.done());
  answer(sized(1, 2));
  CHECK_PENDING("get /s/" + permit(1, 4));
  answer();
  BOOST_TEST(!acquiring.done());
  fire(backend::change::deleted, "/s/" + permit(1, 4));
  BOOST_TEST_REQUIRE(succeeded(acquiring));
}

// Nobody is let in while the size is read again. If it may not be read any more, the last known size counts.
BOOST_FIXTURE_TEST_CASE(a_size_that_may_not_be_read_any_more_lets_in_by_the_last_one_known, behind_two) {
  fire(backend::change::data, "/s");
  fire(backend::change::deleted, "/s/" + permit(1, 3));
  BOOST_TEST(!acquiring.done());
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(succeeded(acquiring));
}

// A holder's node changes, and only this node is read. Otherwise a thousand holders that announce at once that they
// hold would cost a thousand reads each.
BOOST_FIXTURE_TEST_CASE(what_one_holder_says_makes_us_look_at_that_one_alone, behind_two) {
  fire(backend::change::data, "/s/" + permit(1, 4));
  CHECK_PENDING("get /s/" + permit(1, 4));
  fire(backend::change::deleted, "/s/" + permit(1, 3));  // this departure is noticed all the same
  answer();
  BOOST_TEST_REQUIRE(succeeded(acquiring));
}

// The server throttles the list but shows the size. Both are read again, the size behind the list, because a size older
// than the list does not go with it.
BOOST_FIXTURE_TEST_CASE(the_size_is_never_older_than_the_list, without_a_list) {
  throttle();
  answer(sized(2));
  advance(75ms);
  CHECK_PENDING("get " + own, "children /s");
  answer();
  list(with_own({permit(1, 3)}));
  CHECK_PENDING("get /s");
  answer(sized(1, 2));
  BOOST_TEST(!acquiring.done());
  CHECK_PENDING("get /s", "get /s/" + permit(1, 3));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// An acquisition that is let in at once. With `is_followed` its list shows a member behind it.
struct followed_case : fake_session {
  explicit followed_case(line_options options = {})
      : permits(zk, "/s", 1, std::move(options)), acquired(record<ownership>()) {
    connect();
  }

  void let_in(bool tries, bool is_followed = true) {
    tries ? permits.async_try_acquire(1, acquired.token()) : permits.async_acquire(1, acquired.token());
    settle();
    while (!acquired.done()) {
      BOOST_TEST_REQUIRE(!pending().empty());
      const auto asked = last().pending.front().first;
      backend::reply reply;
      if (asked.op == backend::opcode::create) reply.path = own = asked.path + "0000000001";
      if (asked.op == backend::opcode::create) reply.stat.ephemeral_owner = 0x77;
      if (asked.op == backend::opcode::get) reply.data = serialize(permit_record{1});
      if (asked.op == backend::opcode::children && !own.empty()) reply.children = {own.substr(3)};
      if (asked.op == backend::opcode::children && !own.empty() && is_followed) reply.children.push_back(permit(1, 2));
      answer(std::move(reply));
    }
    BOOST_TEST(!acquired.error(), acquired.error().message());
    settle();
  }
  std::ptrdiff_t asked(const std::string& what) { return std::ranges::count(pending(), what); }

  std::string own;
  semaphore permits;
  zkrecipes::test::recorder<ownership> acquired;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_lines)

// The member behind may have read its list before the one ahead of us left, and so have seen us wait.
BOOST_AUTO_TEST_CASE(who_is_let_in_at_once_says_so_if_others_are_behind_already) {
  for (const bool tries : {false, true}) {
    for (const bool is_followed : {false, true}) {
      followed_case it;
      it.let_in(tries, is_followed);
      BOOST_TEST(it.asked("set " + it.own) == (is_followed ? 1 : 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_says_so_keeps_its_id_whatever_that_looks_like) {
  const std::string id = R"({"id":"x","revoke":true})";
  followed_case it({.id = id});
  it.let_in(false);
  while (!it.pending().empty() && it.asked("set " + it.own) == 0) it.answer();
  while (!it.pending().empty() && it.pending().front() != "set " + it.own) it.answer();
  BOOST_TEST_REQUIRE(!it.pending().empty());
  const auto& written = it.last().pending.front().first.data;
  BOOST_TEST(member_id(written) == id);
  BOOST_TEST(!asks_revocation(written));
}

// The server is too busy for longer than operations are retried, and then it refuses once.
BOOST_AUTO_TEST_CASE(who_was_let_in_says_so_for_as_long_as_it_holds) {
  followed_case it;
  it.let_in(false);
  while (!it.pending().empty() && it.asked("set " + it.own) == 0) it.answer();
  for (int i = 0; i < 60; ++i) {
    while (!it.pending().empty()) it.throttle();
    it.advance(1s);
  }
  for (int i = 0; i < 600 && it.pending().empty(); ++i) it.advance(100ms);
  CHECK_PENDING_OF(it, "get " + it.own);
  it.fail(errc::server_error);
  it.advance(400ms);
  CHECK_PENDING_OF(it, "get " + it.own);
  it.answer();
  CHECK_PENDING_OF(it, "set " + it.own);
  it.answer();
  CHECK_PENDING_OF(it);
}

BOOST_AUTO_TEST_SUITE_END()
