// The names, the data and the positions of a topic.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/topic.hpp>

#include "source/log_source.hpp"
#include "topic/log_position.hpp"
#include "topic/log_reader.hpp"
#include "topic/topic_layout.hpp"
#include "topic/topic_transaction.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

std::string after(const log_progress& progress) {
  const auto text = serialize(progress.position());
  return text.substr(text.find(',') + 1);
}

void settle(log_progress& progress, std::int32_t batch, std::uint32_t first, std::uint32_t last) {
  for (auto i = first; i <= last; ++i) progress.settle({batch, i});
}

std::vector<std::string> names_of(const std::vector<batch_name>& all) {
  std::vector<std::string> names;
  for (const auto& each : all) names.push_back(each.name);
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(topic_positions)

BOOST_AUTO_TEST_CASE(the_shard_of_a_key_is_that_of_zlib) {
  BOOST_TEST(shard_of("123456789", 0xffffffff) == 0xcbf43926u);  // the check value of CRC-32
  BOOST_TEST(shard_of("", 16) == 0u);
  BOOST_TEST(shard_of("account-7", 256) == 0x912d1d05u % 256);  // python3 -c 'import zlib; zlib.crc32(b"account-7")'
}

BOOST_AUTO_TEST_CASE(batches_that_could_not_be_read_are_kept_behind_the_position) {
  log_progress progress;
  for (std::int32_t batch = 3; batch < 8; ++batch) progress.open(batch, 1);
  progress.keep(4);
  progress.keep(5);
  for (std::int32_t batch = 3; batch < 8; ++batch) progress.settle({batch, 0});
  const auto read = parse_position(serialize(progress.position()));
  BOOST_TEST_REQUIRE(read.has_value());
  for (std::int32_t batch = 3; batch < 8; ++batch) {
    BOOST_TEST(read->is_behind(batch));
    BOOST_TEST(read->kept.contains(batch) == (batch == 4 || batch == 5));
  }
  BOOST_TEST(!parse_position("{\"zkrecipes\":\"position\",\"kept\":\"4.1\"}"));
  BOOST_TEST(!parse_position("{\"zkrecipes\":\"position\",\"kept\":4}"));
}

BOOST_AUTO_TEST_CASE(names_of_batches_are_read_and_others_are_ignored) {
  const auto found =
      batches_of({"b-3-0000000012", "_at", "b-12-0000000002", "b-1-12", "b-01-0000000003", "b--0000000003",
                  "b-1-00000000x3", "b-1-2147483647", "qn-0000000001", "b-5--000000001", "b-4294967296-0000000001"});
  BOOST_TEST(names_of(found) == std::vector<std::string>({"b-12-0000000002", "b-3-0000000012"}),
             boost::test_tools::per_element());
  BOOST_TEST(found[1].number == 12);
  BOOST_TEST(found[1].count == 3u);
}

BOOST_AUTO_TEST_CASE(names_of_messages_tell_their_place) {
  BOOST_TEST(message_name({17, 3}) == "17.3");
  BOOST_TEST((parse_message_name("17.3") == message_place{17, 3}));
  for (const auto* bad : {"", "17", "17.", ".3", "-1.3", "17.-3", "17.3.4", "017.3", "17. 3", "qn-0000000001"}) {
    BOOST_TEST(!parse_message_name(bad).has_value(), bad);
  }
  BOOST_TEST((shard_of_letter("0007/17.3", &is_topic_message) == 7u));
  for (const auto* bad : {"17.3", "7/17.3", "0007/", "0007/17", "00x7/17.3"}) {
    BOOST_TEST(!shard_of_letter(bad, &is_topic_message).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_is_netstrings) {
  packed_batch made;
  made.add("key", "data");
  made.add("", std::string("\0,:", 3));
  BOOST_TEST(made.text() == std::string("17:zkrecipes:batch:1,3:key,4:data,0:,3:\0,:,", 43));
  const auto read = unpack(made.text());
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST_REQUIRE(read->size() == 2u);
  BOOST_TEST((*read)[0].first == "key");
  BOOST_TEST((*read)[0].second == "data");
  BOOST_TEST((*read)[1].second == std::string("\0,:", 3));
  const packed_batch empty;
  BOOST_TEST(made.bytes() == empty.bytes() + packed_batch::size_of("key", "data") + packed_batch::size_of("", "abc"));
}

BOOST_AUTO_TEST_CASE(what_is_no_batch_is_told_and_nothing_is_read_past_its_end) {
  packed_batch made;
  made.add("a key", "some data");
  for (std::size_t length = 0; length < made.text().size(); ++length) {
    const auto part = made.text().substr(0, length);
    const bool is_empty_batch = length == packed_batch().bytes();
    BOOST_TEST(unpack(part).has_value() == is_empty_batch, part);
  }
  for (const auto* bad : {"3:key", "4:key,4:data,", "-1:,0:,", "9999999999:k,0:,", ":,0:,", "3key,0:,", "3:key;0:,"}) {
    BOOST_TEST(!unpack(packed_batch().text() + bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_position_follows_what_is_settled_in_order) {
  log_progress progress;
  BOOST_TEST(serialize(progress.position()) == R"({"zkrecipes":"position"})");
  progress.open(5, 3);
  BOOST_TEST(after(progress) == R"("batch":5,"index":0})");
  settle(progress, 5, 0, 1);
  BOOST_TEST(after(progress) == R"("batch":5,"index":2})");
  progress.settle({5, 2});
  BOOST_TEST(after(progress) == R"("batch":6,"index":0})");
  BOOST_TEST(progress.take_finished() == std::vector<std::int32_t>{5}, boost::test_tools::per_element());
  BOOST_TEST(progress.take_finished().empty());
}

BOOST_AUTO_TEST_CASE(what_is_settled_ahead_is_kept_in_ranges) {
  log_progress progress;
  for (const auto batch : {5, 6, 7, 9}) progress.open(batch, 10);
  settle(progress, 5, 1, 9);
  settle(progress, 6, 0, 9);
  settle(progress, 7, 0, 9);
  settle(progress, 9, 4, 6);
  progress.settle({9, 9});
  BOOST_TEST(after(progress) == R"("batch":5,"index":0,"ahead":"6-7,5.1-9,9.4-6,9.9"})");
  log_progress next(*parse_position(serialize(progress.position())));
  BOOST_TEST(!next.is_behind(5));
  BOOST_TEST(next.is_behind(6));
  next.open(5, 10);
  next.open(9, 10);
  for (std::uint32_t i = 0; i < 10; ++i) {
    BOOST_TEST(next.is_settled({5, i}) == (i >= 1));
    BOOST_TEST(next.is_settled({9, i}) == ((i >= 4 && i <= 6) || i == 9));
  }
  BOOST_TEST(serialize(next.position()) == serialize(progress.position()));
  next.settle({5, 0});
  BOOST_TEST(after(next) == R"("batch":9,"index":0,"ahead":"9.4-6,9.9"})");
  settle(next, 9, 0, 9);
  BOOST_TEST(after(next) == R"("batch":10,"index":0})");
}

BOOST_AUTO_TEST_CASE(batches_that_have_gone_are_passed_over) {
  log_progress progress(*parse_position(R"({"zkrecipes":"position","batch":5,"index":2,"ahead":"5.4,7,8.0"})"));
  progress.pass_over(5);
  BOOST_TEST(after(progress) == R"("batch":6,"index":0,"ahead":"7,8.0"})");
  progress.open(8, 1);
  BOOST_TEST(after(progress) == R"("batch":9,"index":0})");
}

BOOST_AUTO_TEST_CASE(failed_attempts_are_kept_until_the_message_is_settled) {
  log_progress progress;
  progress.open(5, 2);
  progress.fail({5, 1}, 1700);
  progress.fail({5, 1}, 1800);
  BOOST_TEST(after(progress) == R"("batch":5,"index":0,"failed":["5.1 2 1700"]})");
  const log_progress next(*parse_position(serialize(progress.position())));
  BOOST_TEST(next.failed({5, 1}).count == 2);
  BOOST_TEST(next.failed({5, 1}).since == 1700);
  BOOST_TEST(next.failed({5, 0}).count == 0);
  progress.settle({5, 1});
  BOOST_TEST(after(progress) == R"("batch":5,"index":0,"ahead":"5.1"})");
}

// Each commit writes the position as a whole.
BOOST_AUTO_TEST_CASE(many_messages_that_fail_do_not_make_a_large_position) {
  log_progress progress;
  progress.open(1, 10'000);
  for (std::uint32_t i = 0; i < 10'000; ++i) progress.fail({1, i}, 1'700'000'000'000);
  BOOST_TEST(serialize(progress.position()).size() < 4'096u);
  BOOST_TEST(progress.failed({1, 99}).count == 1);
  BOOST_TEST(progress.failed({1, 100}).count == 0);
  progress.fail({1, 99}, 1'700'000'000'001);
  BOOST_TEST(progress.failed({1, 99}).count == 2);
  progress.settle({1, 0});
  progress.fail({1, 100}, 1'700'000'000'000);
  BOOST_TEST(progress.failed({1, 100}).count == 1, "there is room again");
}

BOOST_AUTO_TEST_CASE(what_is_settled_far_ahead_lets_no_more_be_begun_but_what_is_in_front_of_it) {
  log_progress progress;
  for (std::int32_t batch = 0; batch < 3; ++batch) progress.open(batch, 1'000);
  for (std::uint32_t i = 1; !progress.is_far_ahead(); i += 2)
    progress.settle({static_cast<std::int32_t>(i / 1'000), i % 1'000});
  BOOST_TEST(serialize(progress.position()).size() < 16'384u);
  BOOST_TEST(progress.has_settled_behind({1, 998}));
  BOOST_TEST(!progress.has_settled_behind({2, 0}));
  const log_progress later(*parse_position(serialize(progress.position())));
  BOOST_TEST(later.is_far_ahead());
  BOOST_TEST(later.has_settled_behind({1, 998}));
  BOOST_TEST(!later.has_settled_behind({2, 0}));
  for (std::uint32_t i = 0; i < 100; i += 2) progress.settle({0, i});
  BOOST_TEST(!progress.is_far_ahead());
}

BOOST_AUTO_TEST_CASE(the_mark_of_a_seek_outlives_the_commits_behind_it) {
  log_progress progress(*parse_position(R"({"zkrecipes":"position","batch":5,"index":0,"seek":"s1"})"));
  progress.open(5, 1);
  progress.settle({5, 0});
  BOOST_TEST(after(progress) == R"("batch":6,"index":0,"seek":"s1"})");
}

BOOST_AUTO_TEST_CASE(fields_of_later_versions_are_kept) {
  const std::string text = R"({"zkrecipes":"position","batch":5,"index":2,"colour":"blue"})";
  BOOST_TEST(serialize(*parse_position(text)) == text);
}

BOOST_AUTO_TEST_CASE(what_is_no_position_is_told) {
  for (const auto* bad : {"", "{}", R"({"zkrecipes":"term"})", R"({"zkrecipes":"position","batch":5})",
                          R"({"zkrecipes":"position","batch":-5,"index":0})",
                          R"({"zkrecipes":"position","batch":5,"index":0,"ahead":"7-6"})",
                          R"({"zkrecipes":"position","batch":5,"index":0,"ahead":"x.3"})",
                          R"({"zkrecipes":"position","batch":5,"index":0,"ahead":7})",
                          R"({"zkrecipes":"position","batch":5,"index":0,"seek":7})",
                          R"({"zkrecipes":"position","batch":5,"index":0,"failed":["5.1 2"]})"}) {
    BOOST_TEST(!parse_position(bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_batch_is_told_by_its_name) {
  const auto position = *parse_position(R"({"zkrecipes":"position","batch":5,"index":2,"ahead":"7,5.4-5,8.0"})");
  BOOST_TEST(position.count_left({"", 4, 10}) == 0u);
  BOOST_TEST(position.count_left({"", 5, 10}) == 6u);
  BOOST_TEST(position.count_left({"", 6, 10}) == 10u);
  BOOST_TEST(position.count_left({"", 7, 10}) == 0u);
  BOOST_TEST(position.count_left({"", 8, 10}) == 9u);
  BOOST_TEST(position.count_left({"", 5, 3}) == 0u);
  BOOST_TEST(log_position().count_left({"", 0, 10}) == 10u);
}

BOOST_AUTO_TEST_CASE(messages_of_a_shard_share_a_node_up_to_its_limit) {
  topic_transaction all(100);
  const std::string large(200'000, 'x');
  all.add(3, "a", "1");
  all.add(7, "b", "2");
  BOOST_TEST(all.more_bytes(3, "c", "3") == packed_batch::size_of("c", "3"));
  all.add(3, "c", "3");
  BOOST_TEST(all.more_bytes(5, "d", large) == packed_batch::size_of("d", large) + 100);
  all.add(3, "d", large);
  all.add(3, "e", large);
  all.add(3, "f", "4");
  BOOST_TEST(all.count() == 6u);
  transaction made;
  all.add_to(made, {"/t"});
  std::vector<std::string> paths;
  for (const auto& each : made.operations()) paths.push_back(each.path);
  BOOST_TEST(paths == std::vector<std::string>({"/t/0003/b-3-", "/t/0007/b-1-", "/t/0003/b-2-"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(number_range_sets)

BOOST_AUTO_TEST_CASE(numbers_in_any_order_become_ranges) {
  std::vector<int> order{4, 1, 9, 2, 0, 8, 3, 5, 7, 6};
  number_ranges<int> all;
  std::vector<bool> there(11);
  for (const auto each : order) {
    BOOST_TEST(all.add(each));
    BOOST_TEST(!all.add(each));
    there[static_cast<std::size_t>(each)] = true;
    int first_missing = 0;
    while (there[static_cast<std::size_t>(first_missing)]) ++first_missing;
    BOOST_TEST(all.first_missing(0) == first_missing);
    for (int i = 0; i < 11; ++i) BOOST_TEST(all.contains(i) == there[static_cast<std::size_t>(i)]);
  }
  BOOST_TEST(all.all().size() == 1u);
  all.erase_below(4);
  BOOST_TEST((all.all() == number_ranges<int>::ranges{{4, 9}}));
}

BOOST_AUTO_TEST_SUITE_END()

// What operators ask of a topic: where a group is moved to, and which dead letters are put back.

using namespace zkrecipes::test;

namespace {

struct operating : fake_session {
  operating() : orders(zk, "/t", {.shards = 1}) { connect(); }

  void answer_data(std::string data) {
    backend::reply found;
    found.data = std::move(data);
    answer(std::move(found));
  }
  /// Where the group goes on, in a shard with these batches.
  std::optional<detail::message_place> seek(source_position where, std::vector<std::string> batches) {
    auto done = record();
    orders.async_seek(0, "g", where, done.token());
    settle();
    answer_data(own_record);
    CHECK_PENDING("multi /", "children /t/0000");  // so the list is no older than the call
    answer();
    list(std::move(batches));
    CHECK_PENDING("set /t/0000/_at/g");
    const auto written = detail::parse_position(answer().data);
    BOOST_TEST_REQUIRE((done.done() && !done.error()));
    BOOST_TEST_REQUIRE(written.has_value());
    return written->next;
  }
  recorder<> revive() {
    auto done = record();
    dead_letter which;
    which.name = "letter-0000000001";
    which.item = "0000/5.0";
    which.data = "data";
    orders.async_revive("g", which, done.token());
    settle();
    CHECK_PENDING("get /t");
    return done;
  }

  static constexpr const char* own_record = R"({"zkrecipes":"topic","count":1,"hash":"crc32"})";
  const strings two_batches{"b-1-0000000006", "b-3-0000000007"};
  topic orders;
};

struct unused_consumer : queue_consumer {
  using queue_consumer::queue_consumer;
  asio::awaitable<message_outcome> process(term, const message&) override { co_return transaction(); }
};

using place = std::optional<detail::message_place>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_operators, operating)

BOOST_AUTO_TEST_CASE(the_end_is_behind_all_that_was_put_before_the_call) {
  BOOST_TEST((seek(source_position::end(), two_batches) == place({8, 0})));
}

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_a_message_and_not_behind_all_of_them) {
  BOOST_TEST((seek(source_position::at("7.2"), two_batches) == place({7, 2})));
  BOOST_TEST((seek(source_position::at("3.0"), two_batches) == place({3, 0})));
  BOOST_TEST((seek(source_position::at("900.1"), two_batches) == place({8, 0})));
}

BOOST_AUTO_TEST_CASE(in_a_shard_without_batches_every_place_is_in_front_of_the_next) {
  BOOST_TEST((seek(source_position::at("900.1"), {}) == place()));
  BOOST_TEST((seek(source_position::end(), {}) == place()));
}

BOOST_AUTO_TEST_CASE(a_letter_is_put_back_behind_a_look_at_the_record) {
  auto done = revive();
  answer_data(own_record);
  CHECK_PENDING("multi /");
  answer();
  BOOST_TEST((done.done() && !done.error()));
}

BOOST_AUTO_TEST_CASE(a_letter_of_another_source_stays) {
  auto done = revive();
  answer_data(R"({"zkrecipes":"external_log","count":1,"source":"orders"})");
  CHECK_PENDING();
  BOOST_TEST((done.error() == errc::foreign_data));
}

BOOST_AUTO_TEST_CASE(a_letter_of_a_topic_with_another_number_of_shards_stays) {
  auto done = revive();
  answer_data(R"({"zkrecipes":"topic","count":4,"hash":"crc32"})");
  CHECK_PENDING();
  BOOST_TEST((done.error() == errc::size_mismatch));
}

BOOST_AUTO_TEST_CASE(a_feed_is_for_one_consumer_at_a_time) {
  const auto feed = orders.feed(0, "g");
  {
    const unused_consumer one(feed);
    BOOST_CHECK_THROW(unused_consumer{feed}, std::invalid_argument);
    const unused_consumer of_another_feed(orders.feed(0, "g"));
  }
  const unused_consumer next(feed);
}

BOOST_AUTO_TEST_SUITE_END()
