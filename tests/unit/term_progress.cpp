// What a term writes into its record about those before it that have died: a commit is progress only while it executes.
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "career/term_state.hpp"
#include "shards/shard_holding.hpp"
#include "unit/sharding.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A term of a shard. Two owners have died of the shard, and the process of the term before has died.
struct after_deaths : sharding {
  after_deaths() { lead({}); }

  /// A term with the names of these messages in its record.
  void lead(strings in_hand) {
    const auto gone = std::make_shared<std::set<std::string, std::less<>>>();
    detail::term_record begun;
    begun.epoch = 7;
    begun.phase = term_phase::inaugurating;
    begun.how = takeover::forced;
    begun.deaths = 2;
    detail::consumer_notes notes;
    notes.crashes = 1;
    notes.in_hand = std::move(in_hand);
    begun.notes = detail::to_json(notes);
    state = std::make_shared<detail::term_state>(std::make_shared<detail::shard_seat>(group, member, 3, gone),
                                                 std::move(begun), version);
  }
  /// The transaction that was sent. It is executed.
  std::vector<operation> execute() {
    BOOST_TEST_REQUIRE(pending() == strings{"multi /"}, boost::test_tools::per_element());
    auto sent = last().pending.front().first.operations;
    BOOST_TEST_REQUIRE(sent.front().path == "/g/shard/0003");
    BOOST_TEST(sent.front().version == version);
    if (sent.front().type == operation::kind::set) ++version;
    backend::reply done;
    done.results.resize(sent.size());
    done.results.front().stat.version = version;
    answer(std::move(done));
    return sent;
  }
  /// The term enters this phase: the record that it writes.
  detail::term_record enter(term_phase phase) {
    detail::launch_detached(zk.get_core()->strand(), write(state, phase));
    settle();
    const auto written = detail::parse_record(execute().front().data);
    BOOST_TEST_REQUIRE(written.has_value());
    return *written;
  }
  std::int32_t crashes_behind(term_phase phase) { return detail::read_notes(enter(phase).notes).crashes; }
  /// The career commits something: the operation in front of it.
  operation commit() {
    auto committed = term(state).async_commit(transaction().remove("/item"), begun());
    const auto sent = execute();
    BOOST_TEST_REQUIRE(sent.size() == 2u);
    BOOST_TEST(sent[1].path == "/item");
    BOOST_TEST_REQUIRE(succeeded(committed));
    return sent[0];
  }
  static detail::awaitable<void> write(detail::term_ptr state, term_phase phase) {
    co_await state->publish(phase, false, detail::never);
  }

  std::int32_t version = 4;  // of the record
  detail::term_ptr state;
};

bool is_check(const operation& what) { return what.type == operation::kind::check; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_progress, after_deaths)

BOOST_AUTO_TEST_CASE(the_first_commit_of_a_term_that_executes_ends_the_count_of_deaths) {
  BOOST_TEST(enter(term_phase::executing).deaths == 2);
  const auto first = commit();
  BOOST_TEST_REQUIRE(!is_check(first));
  const auto written = detail::parse_record(first.data);
  BOOST_TEST_REQUIRE(written.has_value());
  BOOST_TEST(written->deaths == 0);
  BOOST_TEST((written->phase == term_phase::executing));
  BOOST_TEST(!state->has_deaths());
  BOOST_TEST(is_check(commit()), "it is written once");
  BOOST_TEST(enter(term_phase::handing_over).deaths == 0);
}

BOOST_AUTO_TEST_CASE(what_is_committed_before_and_behind_the_work_does_not_end_the_count_of_deaths) {
  BOOST_TEST(is_check(commit()));
  enter(term_phase::executing);
  BOOST_TEST(enter(term_phase::handing_over).deaths == 2);
  BOOST_TEST(is_check(commit()));
  BOOST_TEST(state->has_deaths());
}

BOOST_AUTO_TEST_CASE(a_commit_of_a_term_that_executes_ends_the_count_of_crashes) {
  enter(term_phase::executing);
  commit();
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 0);
}

BOOST_AUTO_TEST_CASE(what_inaugurate_commits_does_not_end_the_count_of_crashes) {
  commit();
  enter(term_phase::executing);
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
}

BOOST_AUTO_TEST_CASE(what_hand_over_commits_does_not_end_the_count_of_crashes) {
  enter(term_phase::executing);
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
  commit();
  BOOST_TEST(crashes_behind(term_phase::retired) == 1);
}

// A queue consumer judges those.
BOOST_AUTO_TEST_CASE(a_commit_does_not_end_the_count_of_crashes_while_the_record_names_messages) {
  lead({"qn-0000000001"});
  enter(term_phase::executing);
  commit();
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
