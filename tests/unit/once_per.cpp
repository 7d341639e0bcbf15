// Calls that are made once in a period: what a claim finds, and what it leaves alone.
#include "once/once_per.hpp"

#include <random>
#include <set>

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
  BOOST_TEST_REQUIRE(ended_with(mine, errc::connection_loss));
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
  auto ended = a.async_withdraw(mine, begun());
  server.execute(last().pending.front().first);
  const auto path = path_of("smith", period());
  server.nodes[path].data = detail::serialize(detail::once_record{"smith", "b", "theirs"});  // taken meanwhile
  ++server.nodes[path].version;
  reconnect();
  serve();
  BOOST_TEST_REQUIRE(succeeded(ended));
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

// Calls that are made once in a period: the clocks, and the removal of old periods.
namespace {

struct clock_case : once_case {
  std::size_t clean(once_per& by) {
    auto ended = by.async_clean(recorded());
    serve();
    BOOST_TEST_REQUIRE(succeeded(ended));
    return ended.result<0>();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(once_clocks, clock_case)

BOOST_AUTO_TEST_CASE(a_claim_that_is_stamped_in_the_next_period_belongs_there) {
  server.clock = 100 * minute;
  auto a = make("a");
  auto b = make("b");
  claim_by(a, "other");
  pass(1min - 1ms);
  auto& mine = begin(a);
  server.clock += 1;  // on the way to the server
  serve();
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST(mine.result<0>().is_new);
  BOOST_TEST(mine.result<0>().period == 101);
  BOOST_TEST(!claim_by(b).is_new);
  BOOST_TEST(server.nodes.contains(path_of("smith", 100)), "it does not count there");
}

BOOST_AUTO_TEST_CASE(a_guess_that_is_ahead_is_put_right_by_the_stamp) {
  auto a = make("a");
  BOOST_TEST(claim_by(a).is_new);
  advance(10min);  // our clock alone
  const auto there = claim_by(a);
  BOOST_TEST(!there.is_new);
  BOOST_TEST(there.period == period());
}

/// The intent that is found is that of the period by the old clock, until something is written.
BOOST_AUTO_TEST_CASE(a_guess_that_is_behind_is_put_right_by_the_next_write) {
  auto a = make("a");
  BOOST_TEST(claim_by(a).is_new);
  server.clock += 30 * minute;
  BOOST_TEST(!claim_by(a).is_new);
  const auto other = claim_by(a, "jones");
  BOOST_TEST((other.is_new && other.period == period()));
  const auto later = claim_by(a);
  BOOST_TEST((later.is_new && later.period == period()));
}

BOOST_AUTO_TEST_CASE(a_clock_that_steps_back_brings_no_second_call_in_a_period) {
  auto a = make("a");
  auto b = make("b");
  BOOST_TEST(claim_by(a).is_new);
  BOOST_TEST(claim_by(b, "jones").is_new);
  pass(1min);
  BOOST_TEST(claim_by(a).is_new);
  server.clock -= minute;  // another leader
  BOOST_TEST(!claim_by(a).is_new);
  const auto there = claim_by(b, "jones");
  BOOST_TEST(!there.is_new);
  BOOST_TEST(there.period == period());
  pass(1min);
  BOOST_TEST(!claim_by(a).is_new, "the later period has its intent already");
  const auto again = claim_by(b, "jones");
  BOOST_TEST((again.is_new && again.period == period()), "what was written early does not count");
}

BOOST_AUTO_TEST_CASE(an_intent_that_was_written_too_early_is_written_over_by_its_version) {
  auto a = make("a");
  claim_by(a, "other");
  const auto path = path_of("smith", period());
  const auto early = detail::serialize(detail::once_record{"smith", "b", "theirs"});
  server.nodes[path] = {early, 3, server.clock - minute, 1};
  auto& mine = begin(a);
  serve_one();
  serve_one();
  CHECK_PENDING("set " + path, "get " + path);
  BOOST_TEST(last().pending.front().first.version == 3);
  ++server.nodes[path].version;  // somebody else was faster
  server.nodes[path].mtime = server.clock;
  serve();
  BOOST_TEST_REQUIRE(mine.done());
  BOOST_TEST(!mine.result<0>().is_new);
  BOOST_TEST(server.nodes[path].data == early);
  server.nodes[path].mtime -= minute;
  BOOST_TEST(claim_by(a).is_new);
}

BOOST_AUTO_TEST_CASE(an_intent_of_another_that_was_written_too_late_tells_the_time) {
  auto a = make("a");
  claim_by(a, "other");
  const auto path = path_of("smith", period());
  server.nodes[path] = {detail::serialize(detail::once_record{"smith", "b", "theirs"}), 0, server.clock + minute, 1};
  server.clock += minute;
  const auto mine = claim_by(a);
  BOOST_TEST((mine.is_new && mine.period == period()));
}

BOOST_AUTO_TEST_CASE(a_clock_that_never_agrees_is_given_up) {
  auto a = make("a");
  claim_by(a, "other");
  auto& mine = begin(a);
  while (!last().pending.empty()) {
    server.clock += last().pending.front().first.op == backend::opcode::create ? minute : 0;
    serve_one();
  }
  BOOST_TEST_REQUIRE(ended_with(mine, errc::busy));
}

BOOST_AUTO_TEST_CASE(periods_are_removed_when_they_have_been_over_for_long_enough) {
  server.clock = 100 * minute;
  auto a = make("a", 5min);
  claim_by(a, "one");
  claim_by(a, "two");
  pass(6min - 1ms);
  claim_by(a);
  BOOST_TEST(clean(a) == 0u);
  pass(1ms);
  BOOST_TEST(clean(a) == 0u, "our guess alone removes nothing");
  claim_by(a, "three");  // a stamp of the leader
  BOOST_TEST(clean(a) == 3u);
  BOOST_TEST(!server.nodes.contains("/once/100"));
  BOOST_TEST(server.below("/once/105") == 1u);
}

BOOST_AUTO_TEST_CASE(stamps_that_others_have_made_tell_that_periods_are_over) {
  server.clock = 100 * minute;
  auto a = make("a", 5min);
  auto b = make("b");
  claim_by(a);
  pass(6min);
  claim_by(b);
  claim_by(a);  // b's intent is there; its stamp is not newer than what a takes for the present
  BOOST_TEST(clean(a) == 2u);
  BOOST_TEST(!server.nodes.contains("/once/100"));
}

BOOST_AUTO_TEST_CASE(what_is_no_old_period_is_left_alone) {
  server.clock = 100 * minute;
  auto a = make("a", 0ms);
  claim_by(a);
  const std::vector<std::string> others{
      "/once/7x", "/once/007", "/once/-5", "/once/101", "/once/9223372036854775807", "/once/99999999999999999999"};
  for (const auto& each : others) server.nodes[each] = {};
  server.nodes["/once/99"] = {};
  BOOST_TEST(clean(a) == 1u);
  for (const auto& each : others) BOOST_TEST(server.nodes.contains(each), each);
  BOOST_TEST(server.nodes.contains("/once/100"));
}

BOOST_AUTO_TEST_CASE(ten_thousand_intents_are_removed_beside_others_that_remove_them) {
  server.clock = 100 * minute;
  auto a = make("a", 0ms);
  claim_by(a, "first");
  for (int i = 0; i < 10'000; ++i) server.nodes[path_of(std::to_string(i), 100)] = {};
  pass(1min);
  claim_by(a, "next");
  auto ended = a.async_clean(begun());
  serve_one();  // the list of periods
  std::size_t theirs = 0;
  std::size_t most_pending = 0;
  for (std::size_t i = 0; !last().pending.empty(); ++i) {
    most_pending = std::max(most_pending, last().pending.size());
    const auto& next = last().pending.front().first;
    if (detail::parent_of(next.path) == "/once/100" && i % 7 == 0) theirs += server.nodes.erase(next.path);
    serve_one();
  }
  BOOST_TEST_REQUIRE(succeeded(ended));
  BOOST_TEST(theirs > 1'000u);
  BOOST_TEST(ended.result<0>() + theirs == 10'002u, "with the first one, and the period itself");
  BOOST_TEST(most_pending <= 100u);
  BOOST_TEST(server.below("/once/100") == 0u);
  BOOST_TEST(server.below("/once/101") == 1u);
}

BOOST_AUTO_TEST_CASE(claims_clean_by_the_hour) {
  server.clock = 100 * minute;
  server.nodes["/once"] = {R"({"zkrecipes":"once_per","per_ms":60000})"};
  server.nodes["/once/_once_clock"] = {};
  server.nodes["/once/3"] = {};
  auto a = make("a");
  claim_by(a);
  BOOST_TEST(!server.nodes.contains("/once/3"));
  server.nodes["/once/4"] = {};
  pass(59min);
  claim_by(a);
  BOOST_TEST(server.nodes.contains("/once/4"));
  pass(12min);
  claim_by(a);
  BOOST_TEST(!server.nodes.contains("/once/4"));
}

/// Random claims, withdrawals, lost replies, and clocks that jump by less than is kept.
BOOST_AUTO_TEST_CASE(no_period_has_two_calls_of_a_key) {
  std::mt19937_64 random{20'261'125};
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::deque<once_per> all;
  for (const auto* id : {"a", "b", "c"}) all.push_back(make(id));
  std::set<std::pair<std::int64_t, std::string>> called;
  bool is_once = true;
  bool is_right = true;
  int calls = 0;
  for (int step = 0; step < 10'000; ++step) {
    std::deque<claim*> begun;
    const std::string key(1, static_cast<char>('a' + draw(0, 4)));
    for (int i = draw(1, 3); i > 0; --i) begun.push_back(&begin(all[static_cast<std::size_t>(draw(0, 2))], key));
    while (!last().pending.empty()) {
      if (draw(0, 50) == 0) lose_replies(static_cast<std::size_t>(draw(0, static_cast<int>(last().pending.size()))));
      if (draw(0, 9) == 0) server.clock += draw(-40'000, 60'000);
      if (!last().pending.empty()) serve_one();
    }
    for (auto* each : begun) {
      BOOST_TEST_REQUIRE(each->done());
      if (each->error()) continue;
      const auto& found = each->result<0>();
      is_right = is_right && found.at.time_since_epoch() / 1min == found.period && found.key == key;
      if (!found.is_new) continue;
      ++calls;
      is_once = is_once && called.emplace(found.period, key).second;
      if (draw(0, 9) == 0 && !withdraw(all.front(), found)) called.erase({found.period, key});
    }
    claims.clear();
    if (draw(0, 3) == 0) pass(std::chrono::milliseconds(draw(0, 30'000)));
  }
  BOOST_TEST(is_once);
  BOOST_TEST(is_right);
  BOOST_TEST(calls > 3'000);
  BOOST_TEST_MESSAGE(calls << " calls in " << server.clock / minute << " periods");
}

BOOST_AUTO_TEST_SUITE_END()
