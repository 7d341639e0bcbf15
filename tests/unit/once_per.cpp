// Calls that are made once in a period: what a claim finds, and what it leaves alone.
#include "once/once_state.hpp"
#include "unit/once_case.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(once_periods, once_case)

BOOST_AUTO_TEST_CASE(the_first_claim_is_new_and_later_ones_are_told_whose_it_is) {
  auto a = make("a");
  auto b = make("b");
  const auto mine = claim_by(a, "smith", "order 7");
  BOOST_TEST(mine.is_new);
  BOOST_TEST(mine.key == "smith");
  BOOST_TEST(mine.period == period());
  BOOST_TEST(mine.at.time_since_epoch() / 1ms == server.clock);
  pass(3s);
  const auto theirs = claim_by(b);
  BOOST_TEST(!theirs.is_new);
  BOOST_TEST(theirs.id == "a");
  BOOST_TEST(theirs.note == "order 7");
  BOOST_TEST(theirs.guid == mine.guid);
  BOOST_TEST((theirs.at == mine.at));
  BOOST_TEST(!claim_by(a).is_new, "also by the one that has it");
  BOOST_TEST(claim_by(b, "jones").is_new);
}

BOOST_AUTO_TEST_CASE(each_period_has_an_intent_of_its_own) {
  auto a = make("a");
  server.clock = 100 * minute;
  const auto first = claim_by(a);
  pass(1min - 1ms);
  BOOST_TEST(!claim_by(a).is_new);
  pass(1ms);
  const auto second = claim_by(a);
  BOOST_TEST(second.is_new);
  BOOST_TEST(second.period == first.period + 1);
  BOOST_TEST(second.guid != first.guid);
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_round_trip) {
  auto a = make("a");
  claim_by(a, "first");
  auto& mine = begin(a, "second");
  CHECK_PENDING("create " + path_of("second", period()), "get " + path_of("second", period()));
  serve_one();
  serve_one();
  BOOST_TEST(mine.done());
  auto& again = begin(a, "second");
  BOOST_TEST(pending().size() == 2u);
  serve();
  BOOST_TEST(again.done());
}

BOOST_AUTO_TEST_CASE(a_claim_whose_reply_is_lost_is_known_by_its_guid) {
  auto a = make("a");
  claim_by(a, "other");
  auto& mine = begin(a);
  lose_replies(1);
  serve();
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((!mine.error() && mine.result<0>().is_new));
  auto& late = begin(a, "jones");
  lose_replies(0);  // the request was lost, too
  serve();
  BOOST_TEST_REQUIRE(late.done());
  BOOST_TEST((!late.error() && late.result<0>().is_new));
}

BOOST_AUTO_TEST_CASE(one_whose_reply_is_lost_does_not_take_that_of_another_for_its_own) {
  auto a = make("a");
  auto b = make("b");
  claim_by(a, "other");
  claim_by(b);
  auto& mine = begin(a);
  lose_replies(1);
  serve();
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((!mine.error() && !mine.result<0>().is_new));
  BOOST_TEST(mine.result<0>().id == "b");
}

BOOST_AUTO_TEST_CASE(lost_replies_of_the_first_claim_of_all) {
  for (std::size_t lost_at = 0; lost_at < 20; ++lost_at) {
    server = {};
    auto a = make("a");
    auto& mine = begin(a);
    for (std::size_t i = 0; i < lost_at && !mine.done(); ++i) serve_one();
    if (mine.done()) break;
    lose_replies(last().pending.size());
    serve();
    BOOST_TEST_REQUIRE(mine.done(), lost_at);
    BOOST_TEST((!mine.error() && mine.result<0>().is_new), lost_at);
    serve();
  }
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_intent_may_be_there_and_is_found) {
  auto a = make("a");
  claim_by(a, "other");
  auto& mine = begin(a);
  server.execute(last().pending.front().first);
  lose();
  advance(31s);
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST((mine.error() == errc::connection_loss));
  while (!last().open) advance(100ms);
  connect();
  const auto there = claim_by(a);
  BOOST_TEST(!there.is_new);
  BOOST_TEST(there.id == "a");
}

BOOST_AUTO_TEST_CASE(foreign_data_is_never_written_over) {
  auto a = make("a");
  claim_by(a, "other");
  const auto path = path_of("smith", period());
  const std::string of_another_key = detail::serialize(detail::once_record{"jones", "b", "guid"});
  for (const std::string& text : {std::string(), std::string("theirs"), std::string(R"({"zkrecipes":"term"})"),
                                  std::string(R"({"zkrecipes":"once_intent","key":"smith"})"), of_another_key}) {
    server.nodes[path] = {text, 0, server.clock, 1};
    BOOST_TEST((refused(a) == errc::foreign_data), text);
    BOOST_TEST(server.nodes[path].data == text);
    BOOST_TEST(server.nodes[path].version == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_path_of_something_else_is_left_alone) {
  server.nodes["/once"] = {"theirs", 0, 1, 1};
  auto a = make("a");
  BOOST_TEST((refused(a) == errc::foreign_data));
  BOOST_TEST(server.nodes.size() == 1u);
  BOOST_TEST(server.nodes["/once"].data == "theirs");
  server.nodes["/once"].data = R"({"zkrecipes":"once_per","per_ms":1000})";
  BOOST_TEST((refused(a) == errc::size_mismatch));
  server.nodes["/once"].data.clear();  // somebody needed a path
  BOOST_TEST(claim_by(a).is_new);
  BOOST_TEST(server.nodes["/once"].data == R"({"zkrecipes":"once_per","per_ms":60000})");
}

BOOST_AUTO_TEST_CASE(what_is_removed_as_a_whole_is_made_again) {
  auto a = make("a");
  claim_by(a);
  server.nodes.clear();
  BOOST_TEST(claim_by(a, "jones").is_new);
  BOOST_TEST(server.nodes.contains("/once"));
}

BOOST_AUTO_TEST_CASE(keys_and_notes_of_another_length_are_refused) {
  auto a = make("a");
  BOOST_TEST((refused(a, "") == errc::bad_arguments));
  BOOST_TEST((refused(a, std::string(1'001, 'k')) == errc::bad_arguments));
  BOOST_TEST((refused(a, "k", std::string(1'001, 'n')) == errc::bad_arguments));
  BOOST_TEST(server.nodes.empty());
  const std::string odd("\x00/\xff\n", 4);
  const auto mine = claim_by(a, odd, std::string(1'000, 'n'));
  BOOST_TEST((mine.is_new && mine.key == odd));
  BOOST_TEST(!claim_by(a, odd).is_new);
}

BOOST_AUTO_TEST_CASE(an_intent_that_is_taken_back_makes_room_for_another) {
  auto a = make("a");
  auto b = make("b");
  const auto mine = claim_by(a);
  BOOST_TEST(!withdraw(a, mine));
  const auto theirs = claim_by(b);
  BOOST_TEST((theirs.is_new && theirs.id == "b"));
  BOOST_TEST(!withdraw(a, mine), "once more has no effect");
  BOOST_TEST(!claim_by(a).is_new);
  BOOST_TEST((withdraw(a, claim_by(a)) == errc::bad_arguments), "it was not ours");
  BOOST_TEST(!withdraw(b, theirs));
  BOOST_TEST(claim_by(a).is_new);
}

BOOST_AUTO_TEST_CASE(a_withdrawal_whose_reply_is_lost_is_not_repeated_on_that_of_another) {
  auto a = make("a");
  auto b = make("b");
  const auto mine = claim_by(a);
  auto ended = record<>();
  a.async_withdraw(mine, ended.token());
  settle();
  server.execute(last().pending.front().first);
  const auto path = path_of("smith", period());
  server.nodes[path].data = detail::serialize(detail::once_record{"smith", "b", "theirs"});  // taken meanwhile
  ++server.nodes[path].version;
  reconnect();
  serve();
  BOOST_TEST_REQUIRE(ended.done());
  BOOST_TEST(!ended.error());
  BOOST_TEST(!claim_by(a).is_new);
}

BOOST_AUTO_TEST_CASE(what_later_versions_add_is_kept) {
  auto a = make("a");
  const auto mine = claim_by(a);
  withdraw(a, mine);
  const auto path = path_of("smith", period());
  auto& data = server.nodes[path].data;
  data.insert(data.size() - 1, R"(,"from_the_future":[1])");
  BOOST_TEST(claim_by(a).is_new);
  BOOST_TEST(server.nodes[path].data.find(R"("from_the_future":[1])") != std::string::npos);
  BOOST_TEST(server.nodes[path].data.find("withdrawn") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_cancelled_claim_holds_up_nobody) {
  auto a = make("a");
  auto& first = begin(a, "one");
  auto& second = begin(a, "two");
  first.cancel();
  settle();
  BOOST_TEST((first.done() && first.error() == asio::error::operation_aborted));
  serve();
  BOOST_TEST_REQUIRE(second.done());
  BOOST_TEST((!second.error() && second.result<0>().is_new));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto said = [this](once_per_options options) { return refusal([&] { once_per(zk, "/once", options); }); };
  BOOST_TEST(said({}).starts_with("once_per_options::id"));
  BOOST_TEST(said({.id = "a", .per = 999ms}).starts_with("once_per_options::per is 999 ms; it must be from 1 s"));
  BOOST_TEST(said({.id = "a", .per = std::chrono::hours::max()}).starts_with("once_per_options::per"));
  BOOST_TEST(said({.id = "a", .keep = -1ms}).starts_with("once_per_options::keep"));
  BOOST_TEST(said({.id = "a", .keep = 24h * 367}).starts_with("once_per_options::keep"));
  BOOST_TEST(refusal([&] { once_per(zk, "once", {.id = "a"}); }).starts_with("once_per path"));
  BOOST_TEST(refusal([&] { once_per(zk, "/", {.id = "a"}); }).starts_with("once_per path"));
  const once_per none;
  BOOST_TEST(none.path() == "");
  BOOST_TEST(none.options().id == "");
}

BOOST_AUTO_TEST_SUITE_END()
