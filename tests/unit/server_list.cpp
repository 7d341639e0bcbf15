// The list of servers that a session asks: names that do not resolve, addresses listed twice, unread writes.
#include "session/server_list.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using backend::endpoint;

std::uint64_t no_draw() { return 0; }

/// The servers of one round, sorted.
strings round_of(const detail::server_list& list, lease_clock::time_point present = {}) {
  strings all;
  for (const auto& each : list.in_turn(no_draw, present)) all.push_back(to_string(each));
  std::ranges::sort(all);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_lists)

BOOST_AUTO_TEST_CASE(a_name_that_fails_keeps_the_addresses_that_it_had) {
  detail::server_list list;
  const endpoint a{"a", 1};
  const endpoint b{"b", 2};
  list.resolved({{a, {{"10.0.0.1", 1}}}, {b, {}}});
  BOOST_TEST(round_of(list) == (strings{"10.0.0.1:1"}), boost::test_tools::per_element());
  list.resolved({{a, {}}, {b, {{"10.0.0.2", 2}, {"10.0.0.3", 2}}}});
  const strings all{"10.0.0.1:1", "10.0.0.2:2", "10.0.0.3:2"};
  BOOST_TEST(round_of(list) == all, boost::test_tools::per_element());
  list.resolved({{a, {}}, {b, {}}});
  BOOST_TEST(round_of(list) == all, boost::test_tools::per_element());
  list.resolved({{a, {{"10.0.0.4", 1}}}, {b, {}}});
  const strings moved{"10.0.0.2:2", "10.0.0.3:2", "10.0.0.4:1"};
  BOOST_TEST(round_of(list) == moved, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_name_that_fails_at_first_is_asked_for_again_in_the_next_round) {
  auto options = fake_session::usual();
  options.hosts = "a:1,b:2";
  fake_bench bench;
  bench.state().resolved["b"];
  auto zk = bench.make_session(options);
  bench.settle();
  bench.accept(0x77);
  bench.answer();
  bench.state().resolved.erase("b");
  bench.lose();
  std::set<std::string> asked;
  for (int i = 0; i < 2; ++i) {
    asked.insert(bench.last().options.server.address);
    bench.lose();
  }
  BOOST_TEST(asked == (std::set<std::string>{"a", "b"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_listed_twice_counts_once) {
  detail::server_list list;
  const endpoint one{"10.0.0.1", 1};
  const endpoint two{"10.0.0.2", 1};
  list.resolved({{{"a", 1}, {one}}, {{"b", 1}, {two, one}}, {one, {one}}});
  BOOST_TEST(list.size() == 2u);
  const lease_clock::time_point present{};
  list.on_silence(one, present, std::chrono::seconds(10));
  BOOST_TEST(round_of(list, present).size() == 2u, "there are no two others");
  list.resolved({{{"a", 1}, {one}}, {{"b", 1}, {two, one}}, {{"c", 1}, {{"10.0.0.3", 1}}}});
  const strings others{"10.0.0.2:1", "10.0.0.3:1"};
  BOOST_TEST(round_of(list, present) == others, boost::test_tools::per_element());
}

// The creation of the root is a write like any other.
BOOST_AUTO_TEST_CASE(a_server_that_did_not_answer_the_creation_of_the_root_is_asked_last) {
  for (int draw = 0; draw < 12; ++draw) {
    auto options = fake_session::usual();
    options.hosts = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
    options.root = "/app";
    options.create_root = true;
    fake_session it(options);
    it.connect();
    CHECK_PENDING_OF(it, "create /app");
    const auto unread = it.last().options.server;
    it.state().random = static_cast<std::uint64_t>(draw);
    it.lose();
    std::vector<int> asked;
    for (int i = 0; i < 3; ++i) {
      asked.push_back(it.last().options.server.port);
      it.lose();
    }
    BOOST_TEST(asked.back() == unread.port);
  }
}

BOOST_AUTO_TEST_SUITE_END()
