// Foreign nodes below the path: nodes of other clients in line, and nodes that mean nothing.
#include "ensemble/campaigner.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

// Names as Curator and kazoo write them.
const std::string curator_name = "/e/_c_3a0f6f0e-5d55-4c0b-9a7c-2f1f7c1b6a11-latch-";
const std::string selector_name = "/e/_c_8b1f6f0e-5d55-4c0b-9a7c-2f1f7c1b6a22-lock-";
const std::string kazoo_name = "/e/1f0c2a7be4d94fd1a7d0c61fd6f3b0aa__lock__";

class neighbours : public line_fixture {
 public:
  /// Creates the node of another client, in line like ours; returns its full path.
  std::string stand(const std::string& name, const std::string& data) {
    auto made = run(zk().async_create(name, data, create_mode::ephemeral_sequential, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
    return std::get<1>(made).path;
  }

  void is_respected(const std::string& name) {
    const auto foreign = stand(name, "stranger");
    auto& ours = join();
    settle(ours.zk);
    settle(ours.zk);
    BOOST_TEST(!ours.result.done());
    remove(foreign);
    BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
    release(ours);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(line_neighbours, neighbours)

BOOST_AUTO_TEST_CASE(what_is_not_in_line_is_ignored) {
  const std::vector<std::string> strange{"/e/a",
                                         "/e/lock",
                                         "/e/latch-",
                                         "/e/x-latch-12",
                                         "/e/latch-00000000x1",
                                         "/e/0000000000",
                                         "/e/_c_-read-0000000000"};
  for (const auto& each : strange) create(each);
  auto& ours = join();
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  auto view = run(ours.contest.async_view(tuple));
  BOOST_TEST(std::get<1>(view).candidates.size() == 1u);
  release(ours);
  for (const auto& each : strange) remove(each);
}

BOOST_AUTO_TEST_CASE(curators_latch_ahead_is_respected) { is_respected(curator_name); }
BOOST_AUTO_TEST_CASE(curators_selector_ahead_is_respected) { is_respected(selector_name); }
BOOST_AUTO_TEST_CASE(kazoos_election_ahead_is_respected) { is_respected(kazoo_name); }

BOOST_AUTO_TEST_CASE(a_foreign_leader_is_seen_with_its_raw_id_and_without_a_phase) {
  const auto foreign = stand(curator_name, "host-17/raw id");
  auto& ours = join();
  auto [error, view] = run(ours.contest.async_view(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST(view.leader == "host-17/raw id");
  BOOST_TEST(view.leader_token == get(foreign).stat.czxid);
  BOOST_TEST(view.phase == term_phase::none);
  BOOST_TEST(!view.how.has_value());
  BOOST_TEST_REQUIRE(view.candidates.size() == 2u);
  BOOST_TEST(view.candidates[0].id == "host-17/raw id");
  BOOST_TEST(view.candidates[1].position == 1);
  remove(foreign);
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  release(ours);
}

BOOST_AUTO_TEST_CASE(order_is_that_of_the_numbers_not_of_the_names) {
  const auto last = stand("/e/_c_00000000-0000-0000-0000-000000000000-latch-", "early in the alphabet");
  remove(last);
  auto& ours = join();
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  const auto behind = stand("/e/_c_00000000-0000-0000-0000-000000000000-latch-", "early in the alphabet");
  auto [error, view] = run(ours.contest.async_view(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST(view.leader == "c0");
  remove(behind);
  release(ours);
}

BOOST_AUTO_TEST_SUITE_END()
