// What others do to a topic, and what the servers refuse.
#include "ensemble/topic_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const acl no_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
const acl no_delete{{perm_read | perm_write | perm_create | perm_admin, "world", "anyone"}};
const acl no_read{{perm_write | perm_create | perm_delete | perm_admin, "world", "anyone"}};

class faults : public topics {
 public:
  session impatient() {
    auto how = fixture::options();
    how.retry.first_pause = how.retry.max_pause = 5ms;
    return connect(how);
  }
  void set_acl(const std::string& path, const acl& rights) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl(path, rights, any_version, tuple))));
  }
  void remove_all(const std::string& path) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_remove_with_children(path, tuple))));
  }
  /// Whether the consumer has caught up with its list, so that it waits for changes.
  bool has_done(running_reader& who, std::uint64_t count) {
    return run_until([&] { return who.does.status().done == count; }, 30s);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_faults, faults)

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored) {
  put_all({"1"});
  create("/t/0000/notes", "not a batch");
  create("/t/0000/b-1-12", "not a batch");
  put_all({"2"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(exists("/t/0000/notes"));
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_none_is_parked_and_stops_nobody) {
  put_all({"1"});
  put_raw("b-3-", "no netstring");
  put_raw("b-1-", "17:zkrecipes:batch:1,3:key");
  put_all({"2"});
  put_raw("b-0-", "17:zkrecipes:batch:1,");
  put_all({"3"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
  const auto found = letters();
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].data == "no netstring");
  BOOST_TEST(found[0].reason.find("its data is not that of a batch") != std::string::npos, found[0].reason);
  BOOST_TEST(found[1].data == "17:zkrecipes:batch:1,3:key");
  BOOST_TEST(who.does.attempts.size() == 3u);
  BOOST_TEST(run_until([&] { return who.does.status().parked == 2; }));
}

BOOST_AUTO_TEST_CASE(a_batch_that_may_not_be_read_is_told_and_stays) {
  put_all({"1"});
  const auto hidden = batches().front();
  set_acl("/t/0000/" + hidden, no_read);
  put_all({"2"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(results() == std::vector<std::string>({"2"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return letters().size() == 1; }));
  BOOST_TEST(letters()[0].reason.find(hidden) != std::string::npos, letters()[0].reason);
  BOOST_TEST(batches() == std::vector<std::string>{hidden}, boost::test_tools::per_element());
  who.coordinator.resign();  // the next term trims what is behind its position
  BOOST_TEST_REQUIRE(run_until([&] { return who.coordinator.status().epoch == 2; }));
  put_all({"3"});
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return batches().size() == 1; }));
  BOOST_TEST(batches().front() == hidden);
  BOOST_TEST(position().find("\"kept\"") != std::string::npos, position());
}

BOOST_AUTO_TEST_CASE(a_large_batch_that_is_none_stays_beside_its_letter) {
  put_all({"1"});
  put_raw("b-1-", std::string(1'000'000, 'x'));
  put_all({"2"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  BOOST_TEST(letters()[0].data.empty());
  BOOST_TEST(batches().size() == 1u);
}

BOOST_AUTO_TEST_CASE(batches_that_somebody_removes_are_passed_over) {
  options.window = 1;
  hold_point hold(executor());
  for (const auto& each : numbers(1, 30)) put_all({each});
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto names = batches();
  std::ranges::sort(names);
  remove("/t/0000/" + names[0]);   // that of the message in hand: its effects happen all the same
  remove("/t/0000/" + names[25]);  // listed, and not read yet
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed());
  auto expected = numbers(1, 30);
  expected.erase(expected.begin() + 25);
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return who.does.status().passed_over == 1; }));
  BOOST_TEST(batches().empty());
}

BOOST_AUTO_TEST_CASE(a_group_whose_position_is_removed_begins_with_what_is_there) {
  with.retention = {};
  put_all(numbers(1, 3));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 3));
  remove("/t/0000/_at/g");
  BOOST_TEST_REQUIRE(has_done(who, 6));
  put_all({"4"});
  BOOST_TEST_REQUIRE(has_done(who, 7));
  BOOST_TEST(results() == std::vector<std::string>({"1", "2", "3", "1", "2", "3", "4"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_shard_that_is_removed_begins_anew) {
  put_all(numbers(1, 3));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 3));
  remove_all("/t/0000");
  put_all(numbers(4, 6));  // its numbers begin at 0 again
  BOOST_TEST_REQUIRE(has_done(who, 6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_topic_that_is_wiped_out_begins_anew) {
  hold_point hold(executor());
  put_all(numbers(1, 3));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 1; }));
  remove_all("/t");
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/0000/_at/g"); }));
  put_all({"4"});
  BOOST_TEST_REQUIRE(has_done(who, 2));
  BOOST_TEST(results() == std::vector<std::string>({"1", "4"}), boost::test_tools::per_element());
  BOOST_TEST(get("/t").data == R"({"zkrecipes":"topic","count":1,"hash":"crc32"})");
}

BOOST_AUTO_TEST_CASE(a_position_that_is_none_ends_the_run) {
  put_all({"1"});
  create("/t/0000/_at");
  create("/t/0000/_at/g", "mine");
  create_election("g");
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(who.ended.error() == errc::career_failed);
  try {
    std::rethrow_exception(who.coordinator.failure());
  } catch (const boost::system::system_error& failure) {
    BOOST_TEST(failure.code() == errc::foreign_data);
    BOOST_TEST(std::string(failure.what()).starts_with("topic /t, shard 0000, group g"), failure.what());
  }
}

BOOST_AUTO_TEST_CASE(a_position_that_may_not_be_written_ends_the_run_and_nothing_happens) {
  put_all({"1"});
  BOOST_TEST(!seek(source_position::begin()));
  forbid_writing("/t/0000/_at/g", no_write);
  create_election("g");
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(who.ended.error() == errc::career_failed);
  BOOST_TEST(results().empty());
}

BOOST_AUTO_TEST_CASE(without_the_right_to_remove_batches_they_stay) {
  put_all(numbers(1, 5));
  BOOST_TEST(!seek(source_position::begin()));
  forbid_deleting("/t/0000", no_delete);
  auto& who = consume(impatient(), &succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  put_all(numbers(6, 10));
  BOOST_TEST_REQUIRE(has_done(who, 10));
  BOOST_TEST(results() == numbers(1, 10), boost::test_tools::per_element());
  BOOST_TEST(batches().size() == 2u);
  set_acl("/t/0000", open_acl());
}

BOOST_AUTO_TEST_CASE(a_batch_with_nodes_below_it_stays) {
  put_all(numbers(1, 3));
  const auto kept = batches().front();
  create("/t/0000/" + kept + "/mine");
  put_all(numbers(4, 6));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return batches() == std::vector<std::string>{kept}; }));
}

BOOST_AUTO_TEST_CASE(the_folder_of_the_letters_can_go_at_any_time) {
  options.retry.attempts = 1;
  put_all({"bad"});
  auto& who = consume([](term, message) -> asio::awaitable<message_outcome> { throw std::runtime_error("no"); });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  remove_all("/t/_dead");
  put_all({"worse"});
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 2; }));
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  BOOST_TEST(letters()[0].data == "worse");
}

BOOST_AUTO_TEST_CASE(a_list_of_ten_thousand_batches_is_worked_off) {
  options.window = 1'000;
  put_all({"0"});
  std::string batch = "17:zkrecipes:batch:1,1:k,1:x,";
  auto put_many = [&]() -> asio::awaitable<bool> {
    for (int i = 0; i < 100; ++i) {
      transaction all;
      for (int k = 0; k < 100; ++k) all.create("/t/0000/b-1-", batch, create_mode::persistent_sequential);
      co_await zk().async_commit(all, asio::use_awaitable);
    }
    co_return true;
  };
  run(put_many(), 60s);
  int count = 0;
  auto& who = consume([&](term, message) -> asio::awaitable<message_outcome> {
    co_return transaction().set("/results", std::to_string(++count));
  });
  BOOST_TEST_REQUIRE(has_done(who, 10'001));
  BOOST_TEST(get("/results").data == "10001");
  BOOST_TEST(run_until([&] { return batches().empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()
