// A semaphore's arithmetic: what is written, who fits, whom to wait for.
#include "semaphore/permits.hpp"

#include "unit/fake_session.hpp"

#include <zkrecipes/semaphore.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

std::string permit(int weight, int number) {
  return protected_name("00000000-0000-0000-0000-000000000000", std::to_string(weight) + "-permit-") + "000000000" +
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
  for (const auto& record : {permit_record{3}, permit_record{1, 7, 9}, permit_record{semaphore::most_permits, 1}}) {
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

// Who holds since there were four may not have been marked: the resizer may have died over it.
BOOST_AUTO_TEST_CASE(who_is_behind_one_that_may_hold_since_there_were_more_watches_them_all) {
  auto all = line({1, 1, 1, 1, 1, 1});
  BOOST_TEST((who_fills(all, 4, {2}) == stretch(3)));
  BOOST_TEST((who_fills(all, 4, permit_record{2, 4, 4}) == stretch(0, 4)));
  BOOST_TEST((who_fills(all, 5, permit_record{2, 4, 4}) == stretch(4)), "whom it is behind did surely not fit");
}

BOOST_AUTO_TEST_CASE(who_asks_for_more_than_there_is_waits_for_nobody) {
  BOOST_TEST(!who_fills(line({1, 5}), 1, {4}));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// One that waits for a permit of a semaphore whose only one is taken.
struct waiting_case : zkrecipes::test::fake_session {
  waiting_case() : all(zk, "/s", 1), acquiring(record<ownership>()) {
    connect();
    all.async_acquire(1, acquiring.token());
    settle();
    backend::reply made;
    const auto own = last().pending.front().first.path + "0000000007";
    made.path = own;
    made.stat.czxid = 107;
    made.stat.ephemeral_owner = 0x77;
    answer(made);
    answer(sized(1));  // the parent, read on the way in
    list({permit(1, 3), own.substr(3)});
    while (!pending().empty()) answer(pending().front() == "get /s" ? sized(1) : backend::reply());
    fire(backend::change::data, "/s");
    CHECK_PENDING("get /s");
  }
  static backend::reply sized(std::int32_t size) {
    backend::reply found;
    found.data = serialize(permit_record{size});
    return found;
  }

  semaphore all;
  zkrecipes::test::recorder<ownership> acquiring;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(permit_waits, waiting_case)

BOOST_AUTO_TEST_CASE(a_size_that_is_changed_while_we_wait_lets_us_in) {
  answer(sized(1));
  BOOST_TEST(!acquiring.done());
  fire(backend::change::data, "/s");
  CHECK_PENDING("get /s");
  answer(sized(2));
  BOOST_TEST_REQUIRE(acquiring.done());
  BOOST_TEST(!acquiring.error());
}

BOOST_AUTO_TEST_CASE(a_size_that_the_server_does_not_show_is_asked_for_again) {
  for (const auto why : {errc::server_error, errc::no_auth, errc::no_node}) {
    fail(why);
    CHECK_PENDING();
    advance(1s);
    CHECK_PENDING("get /s");
  }
  throttle();
  advance(75ms);
  CHECK_PENDING("get /s");
  BOOST_TEST(!acquiring.done());
  answer(sized(2));
  BOOST_TEST_REQUIRE(acquiring.done());
  BOOST_TEST(!acquiring.error());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(permit_lines, fake_session)

// The one behind read its list before the one ahead of both had left, and saw us wait.
BOOST_AUTO_TEST_CASE(who_is_let_in_at_once_says_so_if_others_are_behind_already) {
  for (const bool is_followed : {false, true}) {
    if (!is_followed) connect();
    semaphore permits(zk, "/s", 1);
    auto acquired = record<ownership>();
    permits.async_acquire(acquired.token());
    settle();
    std::string own;
    while (!acquired.done()) {
      BOOST_TEST_REQUIRE(!pending().empty());
      const auto asked = last().pending.front().first;
      backend::reply reply;
      if (asked.op == backend::opcode::create) reply.path = own = asked.path + "0000000001";
      if (asked.op == backend::opcode::create) reply.stat.ephemeral_owner = 0x77;
      if (asked.op == backend::opcode::get) reply.data = serialize(permit_record{1});
      if (asked.op == backend::opcode::children) reply.children = {own.substr(3)};
      if (asked.op == backend::opcode::children && is_followed) reply.children.push_back(permit(1, 2));
      answer(std::move(reply));
    }
    BOOST_TEST(!acquired.error(), acquired.error().message());
    settle();
    BOOST_TEST(std::ranges::count(pending(), "set " + own) == (is_followed ? 1 : 0));
    while (!pending().empty()) answer();
  }
}

BOOST_AUTO_TEST_SUITE_END()
