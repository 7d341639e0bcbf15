// A log of one's own: what the common cases do not ask of it.
#include "sources/own_source_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(own_logs, own_source_case)

BOOST_AUTO_TEST_CASE(errors_are_told_and_waited_for_and_the_log_is_opened_again) {
  put_into_log(numbers(1, 3));
  log->faults.errors["open"] = {asio::error::connection_refused, asio::error::connection_refused};
  auto& who = consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(count_told("connect_failed log of our own: Connection refused") == 1u);  // each reason once
  BOOST_TEST_REQUIRE(run_until([&] { return log->changed.waiting() == 1; }));
  log->faults.errors["receive"] = {asio::error::connection_reset};
  put_into_log(numbers(4, 5));
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(count_told("connection_lost log of our own: Connection reset by peer") == 1u);
  BOOST_TEST(results() == numbers(1, 5), boost::test_tools::per_element());
  BOOST_TEST(log->opened == std::vector<std::string>({"", "", "", "row 3"}), boost::test_tools::per_element());
  BOOST_TEST(log->most_open == 1);
  BOOST_TEST(!who.ended.done());
}

BOOST_AUTO_TEST_CASE(what_comes_along_with_an_error_counts) {
  put_into_log({"1", "2"});
  class torn_log final : public external_log {
   public:
    explicit torn_log(own_log::kept from) : inner_(std::move(from)) {}
    std::string name() const override { return "torn log"; }
    asio::awaitable<error_code> open(std::string place) override { return inner_.open(std::move(place)); }
    asio::awaitable<external_batch> receive(std::size_t) override {
      auto some = co_await inner_.receive(1);
      some.error = asio::error::eof;
      co_return some;
    }
    asio::awaitable<void> close() override { return inner_.close(); }

   private:
    own_log inner_;
  };
  auto by = connect();
  auto from = external_source(by, "/q", with).feed(std::make_shared<torn_log>(log), 0, "g");
  consume(by, "g", from, &succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_exception_ends_the_run) {
  put_into_log({"1"});
  for (const auto* function : {"open", "receive", "consumed"}) {
    log->faults.exceptions = {{function, "it is broken"}};
    auto& who = consume_log(&succeed);
    if (log->faults.exceptions.contains("consumed")) put_into_log({"2"});
    BOOST_TEST_REQUIRE(has_failed(who), function);
    BOOST_TEST(who.words().find("log of our own, shard 0000, group g: ") == 0u, who.words());
    BOOST_TEST(who.words().find("it is broken") != std::string::npos, who.words());
    all.clear();
  }
  log->faults.exceptions.clear();
  consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return log->changed.waiting() == 1; }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(log->open_now == 1);
}

BOOST_AUTO_TEST_CASE(what_a_log_says_is_told_in_printable_form) {
  class loud_log final : public external_log {
   public:
    std::string name() const override { return "loud\nlog\x1b"; }
    asio::awaitable<error_code> open(std::string) override {
      throw std::runtime_error("it\arings " + std::string(3 << 20, 'y'));
      co_return error_code();
    }
    asio::awaitable<external_batch> receive(std::size_t) override {
      external_batch none;
      co_return none;
    }
  };
  auto by = connect(logging());
  auto from = external_source(by, "/q", with).feed(std::make_shared<loud_log>(), 0, "g");
  auto& who = consume(by, "g", from, &succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  const auto words = who.words();
  BOOST_TEST(words.starts_with("loud\uFFFDlog\uFFFD, shard 0000, group g: open: it\uFFFDrings yyy"),
             words.substr(0, 100));
  BOOST_TEST(words.ends_with("y..."), words.substr(0, 100));
  BOOST_TEST(words.size() < 1'100u);
  BOOST_TEST(count_told("loud\uFFFDlog\uFFFD") == 2u);  // by the source, and as the reason of the term's end
  BOOST_TEST(count_told("(term-ended: failed, term 1: loud\uFFFDlog\uFFFD, shard 0000") == 1u);
  all.clear();
}

BOOST_AUTO_TEST_CASE(an_exception_of_close_is_told_only) {
  put_into_log({"1"});
  log->faults.exceptions = {{"close", "it is broken"}};
  consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  BOOST_TEST(count_told("close: it is broken") == 1u);
}

BOOST_AUTO_TEST_CASE(an_id_that_is_none_ends_the_run) {
  const std::string long_id(257, 'x');
  for (const auto& id : {std::string(), std::string("a\nb"), long_id}) {
    external_message one;
    one.id = id;
    log->all = {one};
    auto& who = consume_log(&succeed);
    BOOST_TEST_REQUIRE(has_failed(who));
    BOOST_TEST(who.words().find("an id must have 1 to 256 bytes") != std::string::npos, who.words());
    all.clear();
  }
  BOOST_TEST(results().empty());
}

BOOST_AUTO_TEST_CASE(a_next_term_goes_on_behind_the_position) {
  put_into_log(numbers(1, 3));
  auto& who = consume_log(&succeed);  // its feed is used again by the next term
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 3; }));
  BOOST_TEST(position() == R"({"zkrecipes":"external_position","last":"row 3"})");
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return log->opened.size() == 2; }));
  end_runs(all);
  consume_log(&succeed);  // another feed, as of another process
  put_into_log({"4"});
  BOOST_TEST_REQUIRE(has_results(4));
  BOOST_TEST(results() == numbers(1, 4), boost::test_tools::per_element());
  BOOST_TEST(log->opened == std::vector<std::string>({"", "row 3", "row 3"}), boost::test_tools::per_element());
  BOOST_TEST(log->most_open == 1);
}

BOOST_AUTO_TEST_CASE(a_group_whose_position_is_removed_begins_anew) {
  put_into_log(numbers(1, 3));
  auto& who = consume_log(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 3 && log->changed.waiting() == 1; }));
  remove("/q/0000/_at/g");
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST_REQUIRE(run_until([&] { return log->changed.waiting() == 1; }));
  BOOST_TEST(results() == std::vector<std::string>({"1", "2", "3", "1", "2", "3"}), boost::test_tools::per_element());
  BOOST_TEST(log->opened == std::vector<std::string>({"", ""}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(groups_each_get_all_messages) {
  put_into_log(numbers(1, 3));
  consume_log(&succeed, "g");
  consume_log(&succeed, "h");
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST_REQUIRE(run_until([&] { return position("g") == position("h"); }));
}

BOOST_AUTO_TEST_CASE(the_log_learns_what_is_consumed) {
  put_into_log(numbers(1, 3));
  consume_log(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return !log->consumed.empty() && log->consumed.back() == "row 3"; }));
  log->faults.errors["consumed"] = {asio::error::broken_pipe};
  put_into_log({"4"});
  BOOST_TEST_REQUIRE(run_until([&] { return log->opened.size() == 2; }));
  put_into_log({"5"});
  BOOST_TEST_REQUIRE(run_until([&] { return log->consumed.back() == "row 5"; }));
  BOOST_TEST(results() == numbers(1, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_wait_for_messages_is_cancelled_before_the_log_is_closed) {
  auto& who = consume_log(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return log->changed.waiting() == 1; }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(log->changed.waiting() == 0u);
  BOOST_TEST(log->closed == 1);
  BOOST_TEST(log->open_now == 0);
}

BOOST_AUTO_TEST_CASE(a_pause_before_the_next_try_ends_with_the_term) {
  with.retry = {.first_pause = 1h, .max_pause = 1h};
  log->faults.errors["open"] = {asio::error::connection_refused};
  auto& who = consume_log(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return count_told("connect_failed log of our own") == 1; }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(log->open_now == 0);
}

BOOST_AUTO_TEST_CASE(no_more_are_received_than_may_be_in_hand) {
  with.in_hand = 3;
  options.order = message_order::by_key;
  options.retry.first = options.retry.longest = 1h;
  for (const auto* data : {"a1", "a2", "a3", "a4", "b1"}) log->put(std::string(1, *data), data);
  auto& who = consume_log([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a1" && item.attempts == 1) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 1 && who.does.status().received == 3; }));
  BOOST_TEST(log->changed.waiting() == 0u);  // nothing is asked for
  BOOST_TEST(results().empty());
  who.coordinator.resign();  // the successor tries at once what rests
  BOOST_TEST_REQUIRE(has_results(5));
}

BOOST_AUTO_TEST_CASE(what_is_in_hand_is_bounded_in_bytes) {
  options.order = message_order::by_key;
  options.retry.first = options.retry.longest = 1h;
  for (int i = 0; i < 80; ++i) log->put("k", std::string(1024 * 1024, 'x'));
  auto& who = consume_log(
      [](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::again("not yet"); });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().received >= 60 && log->changed.waiting() == 0u; }));
  settle(zk());
  BOOST_TEST(who.does.status().received <= 64u);
}

BOOST_AUTO_TEST_CASE(a_path_or_a_position_of_somebody_else_is_left_alone) {
  create("/q", "mine");
  auto& who = consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  BOOST_TEST((who.failure() == errc::foreign_data));
  BOOST_TEST(get("/q").data == "mine");
  all.clear();
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/q", "", any_version, tuple))));
  put_into_log({"1"});
  consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  BOOST_TEST(get("/q").data == R"({"zkrecipes":"external_log","count":1,"source":"memory"})");
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/q/0000/_at/g", "mine", any_version, tuple))));
  auto& next = consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_failed(next));
  BOOST_TEST((next.failure() == errc::foreign_data));
  BOOST_TEST(position() == "mine");
  all.clear();
}

BOOST_AUTO_TEST_CASE(another_number_of_shards_another_source_or_a_queue_is_refused) {
  put_into_log({"1"});
  consume_log(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  with.shards = 2;
  for (const auto* group : {"g", "h"}) {  // the first has a position
    auto& wider = consume_log(&succeed, group);
    BOOST_TEST_REQUIRE(has_failed(wider));
    BOOST_TEST((wider.failure() == errc::size_mismatch));
    all.clear();
  }
  with.shards = 1;
  auto& other_kind = consume_queue(&succeed);
  BOOST_TEST_REQUIRE(has_failed(other_kind));
  BOOST_TEST((other_kind.failure() == errc::foreign_data));
  all.clear();
  with.source = "others";
  for (const auto* group : {"g", "h"}) {
    auto& other = consume_log(&succeed, group);
    BOOST_TEST_REQUIRE(has_failed(other));
    BOOST_TEST((other.failure() == errc::foreign_data));
    all.clear();
  }
}

BOOST_AUTO_TEST_CASE(dead_letters_are_read_and_discarded) {
  put_into_log({"1"});
  auto& who =
      consume_log([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::park("no"); });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  external_source source(zk(), "/q", with);
  settle(zk());
  auto read = run(source.async_dead_letters("g", tuple));
  const auto& [error, letters] = read;
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters.front().item == "0000/row 1");
  BOOST_TEST(letters.front().key == "1");
  BOOST_TEST(letters.front().data == "1");
  BOOST_TEST(letters.front().reason == "no");
  BOOST_TEST(!std::get<0>(run(source.async_discard("g", letters.front(), tuple))));
  BOOST_TEST((std::get<0>(run(source.async_discard("g", letters.front(), tuple))) == errc::no_node));
}

// With the whole key it would never fit, and with half a request of data it does not, because of the reason and the
// key.
BOOST_AUTO_TEST_CASE(a_letter_keeps_what_fits_beside_the_position) {
  auto narrow = logging();
  narrow.jute_maxbuffer = 4'096;
  const std::string key(5'000, 'k');
  const std::string data(8'000, 'd');
  log->put(key, data);
  put_into_log({"1"});
  auto by = connect(narrow);
  auto from = external_source(by, "/q", with).feed(std::make_shared<own_log>(log), 0, "g");
  auto& who = consume(by, "g", from, [](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data != "1") co_return message_outcome::park(std::string(1'000, 'r'));
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  external_source source(zk(), "/q", with);
  settle(zk());
  auto read = run(source.async_dead_letters("g", tuple));
  const auto& [error, letters] = read;
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  const auto& letter = letters.front();
  BOOST_TEST(letter.key == std::string(1'000, 'k'));
  BOOST_TEST(letter.data.size() <= narrow.jute_maxbuffer / 4);
  BOOST_TEST(data.starts_with(letter.data));
  BOOST_TEST(letter.missing_bytes == key.size() + data.size() - 1'000 - letter.data.size());
}

BOOST_AUTO_TEST_CASE(what_is_no_argument_is_refused) {
  BOOST_CHECK_THROW(external_source(zk(), "q", with), std::invalid_argument);
  const auto is_refused = [&](auto change) {
    auto how = with;
    change(how);
    BOOST_CHECK_THROW(external_source(zk(), "/q", how), std::invalid_argument);
  };
  is_refused([](external_options& how) { how.source.clear(); });
  is_refused([](external_options& how) { how.source = "a\tb"; });
  is_refused([](external_options& how) { how.source.assign(257, 'x'); });
  is_refused([](external_options& how) { how.shards = 0; });
  is_refused([](external_options& how) { how.shards = 10'001; });
  is_refused([](external_options& how) { how.in_hand = 0; });
  is_refused([](external_options& how) { how.in_hand = 2'001; });
  is_refused([](external_options& how) { how.in_hand = 2, how.remembered = 1; });
  is_refused([](external_options& how) { how.remembered = 10'001; });
  is_refused([](external_options& how) { how.retry.first_pause = 0ms; });
  is_refused([](external_options& how) { how.retry.max_pause = how.retry.first_pause - 1ms; });
  const external_source source(zk(), "/q", with);
  const auto from = std::make_shared<own_log>(log);
  BOOST_CHECK_THROW(source.feed(from, 1, "g"), std::invalid_argument);
  BOOST_CHECK_THROW(source.feed(from, 0, "a/b"), std::invalid_argument);
  BOOST_CHECK_THROW(source.feed(from, 0, "\xff"), std::invalid_argument);
  BOOST_CHECK_THROW(source.feed(std::shared_ptr<external_log>(), 0, "g"), std::invalid_argument);
  BOOST_CHECK_THROW(source.feed(std::shared_ptr<external_queue>(), 0), std::invalid_argument);
  BOOST_CHECK_THROW(external_source().feed(from, 0, "g"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
