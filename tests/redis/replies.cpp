// The replies of a broker, and what they tell of a stream.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/redis_reply_text.hpp"
#include "redis/reply_reader.hpp"
#include "redis/stream_replies.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

const entry_fields fields{"key", "data"};

std::string entry(const std::string& id, const std::string& pairs) { return array_of(bulk(id), pairs); }

std::string good_entry(const std::string& id) {
  return entry(id, array_of(bulk("key"), bulk("smith"), bulk("data"), bulk("tea")));
}

template <class... Entries>
std::string stream_of(const Entries&... entries) {
  return array_of(array_of(bulk("orders:7"), array_of(entries...)));
}

std::optional<std::vector<stream_entry>> parse(const std::string& bytes) {
  return parse_entries(*reply_of(bytes), fields);
}

stream_state state_of(stream_id last, std::optional<stream_id> first, std::uint64_t length,
                      std::optional<std::uint64_t> added = {}, std::optional<stream_id> deleted = {}) {
  return {last, first, length, added, deleted};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(redis_replies)

BOOST_AUTO_TEST_CASE(an_array_that_announces_too_much_is_refused_before_it_is_made) {
  for (const std::string announced : {"*1000001\r\n", "*555555552\r\n", "*1\r\n*2147483647\r\n"}) {
    reply_reader reader;
    reader.feed(announced);
    BOOST_TEST((reader.next() == nullptr), announced);
    BOOST_TEST(reader.problem() == "a reply takes too much memory", announced);
  }
}

/// In the middle of an array, too. A string that is as long as it may be is read.
BOOST_AUTO_TEST_CASE(a_string_or_a_line_that_does_not_end_is_refused) {
  constexpr std::size_t longest = 1'000;
  const std::string part(100, 'x');
  for (const std::string begin : {"+", "-ERR ", "$4000000000\r\n", "*2\r\n$1\r\nx\r\n$99999\r\n", "*3\r\n+"}) {
    reply_reader reader(longest);
    reader.feed(begin);
    std::size_t fed = 0;
    for (; fed <= 2 * longest && reader.problem().empty(); fed += part.size()) {
      reader.feed(part);
      BOOST_TEST((reader.next() == nullptr));
    }
    BOOST_TEST(reader.problem() == "a string or line of a reply has more than 1000 bytes", begin);
    BOOST_TEST(fed >= longest - begin.size());
    reader.feed("\r\n");
    BOOST_TEST((reader.next() == nullptr), "it stays so");
  }
  reply_reader reader(longest);
  for (int i = 0; i < 3; ++i) {
    const auto whole = array_of(bulk(std::string(900, 'y')), bulk(std::string(900, 'z')), bulk(part));
    for (std::size_t at = 0; at < whole.size(); at += 50) {
      reader.feed(std::string_view(whole).substr(at, 50));
      const auto* reply = reader.next();
      BOOST_TEST((reply != nullptr) == (at + 50 >= whole.size()));
    }
    BOOST_TEST(reader.problem() == "");
  }
}

/// Some are longer than the memory that a reader begins with.
BOOST_AUTO_TEST_CASE(replies_that_come_in_pieces_are_those_that_were_sent) {
  reply_reader reader;
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{300'000}, std::size_t{5}}) {
    const auto all = array_of(bulk(std::string(size, 'x')), ":7\r\n", "$-1\r\n", "-ERR no\r\n", "*0\r\n");
    const redisReply* reply = nullptr;
    const auto piece = std::max<std::size_t>(1, all.size() / 50);
    for (std::size_t i = 0; i < all.size(); i += piece) {
      BOOST_TEST((reply == nullptr));
      reader.feed(std::string_view(all).substr(i, piece));
      reply = reader.next();
    }
    BOOST_TEST_REQUIRE((reply != nullptr));
    BOOST_TEST_REQUIRE(reply->elements == 5u);
    BOOST_TEST(text_in(*reply->element[0]).size() == size);
    BOOST_TEST(text_in(*reply->element[0]).find_first_not_of('x') == std::string_view::npos);
    BOOST_TEST(reply->element[1]->integer == 7);
    BOOST_TEST(reply->element[2]->type == REDIS_REPLY_NIL);
    BOOST_TEST(text_in(*reply->element[3]) == "ERR no");
    BOOST_TEST(reply->element[4]->elements == 0u);
    BOOST_TEST((reader.next() == nullptr));
    BOOST_TEST(reader.problem() == "");
  }
}

BOOST_AUTO_TEST_CASE(entries_are_read_with_their_key_and_data) {
  const auto read =
      parse(stream_of(good_entry("5-0"), entry("5-1", array_of(bulk("data"), bulk(std::string("a\0b", 3))))));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST_REQUIRE(read->size() == 2u);
  BOOST_TEST(to_string(read->at(0).id) == "5-0");
  BOOST_TEST(read->at(0).key == "smith");
  BOOST_TEST(read->at(0).data == "tea");
  BOOST_TEST(read->at(1).key.empty());
  BOOST_TEST(read->at(1).data == std::string("a\0b", 3));
  BOOST_TEST(read->at(1).has_data);
}

BOOST_AUTO_TEST_CASE(an_entry_without_the_field_of_the_data_keeps_all_its_fields) {
  const auto read = parse(stream_of(entry("5-0", array_of(bulk("key"), bulk("smith"), bulk("x"), bulk("1")))));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(!read->at(0).has_data);
  BOOST_TEST(read->at(0).data == "{\"fields\":[\"key\",\"smith\",\"x\",\"1\"]}");
}

BOOST_AUTO_TEST_CASE(nothing_to_read_is_no_entry) {
  BOOST_TEST(parse("*-1\r\n").value().empty());
  BOOST_TEST(parse("$-1\r\n").value().empty());
  BOOST_TEST(parse(stream_of()).value().empty());
}

BOOST_AUTO_TEST_CASE(replies_of_another_form_are_refused) {
  const std::vector<std::string> bad{":1\r\n",
                                     "+OK\r\n",
                                     "*0\r\n",
                                     array_of(std::string(":1\r\n")),
                                     array_of(array_of(bulk("orders:7"))),
                                     array_of(array_of(bulk("orders:7"), bulk("x"))),
                                     array_of(array_of(bulk("a"), array_of()), array_of(bulk("b"), array_of())),
                                     stream_of(bulk("x")),
                                     stream_of(entry("5", array_of())),
                                     stream_of(entry("5-0", bulk("x"))),
                                     stream_of(entry("5-0", array_of(bulk("data")))),
                                     stream_of(entry("5-0", array_of(bulk("data"), std::string(":1\r\n")))),
                                     stream_of(array_of(std::string(":5\r\n"), array_of())),
                                     stream_of(good_entry("5-1"), good_entry("5-0")),
                                     stream_of(good_entry("5-1"), good_entry("5-1"))};
  for (const auto& each : bad) BOOST_TEST(!parse(each).has_value(), each);
}

BOOST_AUTO_TEST_CASE(errors_are_told_apart_by_their_first_word) {
  BOOST_TEST((error_of_redis("WRONGPASS invalid username-password pair") == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("NOAUTH Authentication required.") == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("NOPERM this user has no permissions") == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("ERR invalid password") == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("ERR Client sent AUTH, but no password is set") == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("WRONGTYPE Operation against a key") == errc::foreign_data));
  BOOST_TEST((error_of_redis("MOVED 1234 10.0.0.1:6379") == redis_errc::other_node));
  BOOST_TEST((error_of_redis("LOADING Redis is loading the dataset in memory") == redis_errc::unavailable));
  BOOST_TEST((error_of_redis("ERR unknown command 'XREAD'") == redis_errc::refused));
  BOOST_TEST((error_of_redis("NOREPLICAS Not enough good replicas to write.") == redis_errc::unavailable));
  BOOST_TEST((error_of_redis("") == redis_errc::refused));
  BOOST_TEST(may_recover(redis_errc::unavailable));
  BOOST_TEST(!may_recover(redis_errc::refused_credentials));
  BOOST_TEST(!may_recover(errc::foreign_data));
}

// The words of 6.2, of 7.0 and of 7.2.
BOOST_AUTO_TEST_CASE(errors_of_commands_in_scripts_are_those_of_the_commands) {
  const std::string in_62 = "@user_script: 1: ";
  const std::string raised_in_62 = "ERR Error running script (call to f_0a1b): @user_script:1: ";
  const std::string out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
  BOOST_TEST((error_of_redis(in_62 + out_of_memory) == redis_errc::unavailable));
  BOOST_TEST((error_of_redis(raised_in_62 + in_62 + out_of_memory) == redis_errc::unavailable));
  BOOST_TEST((error_of_redis(raised_in_62 + in_62 + "-READONLY You can't write") == redis_errc::unavailable));
  BOOST_TEST((error_of_redis(raised_in_62 + "WRONGTYPE Operation against a key") == errc::foreign_data));
  const std::string no_right = "The user executing the script can't run this command or subcommand";
  const std::string place = " script: c00c, on @user_script:1.";
  BOOST_TEST((error_of_redis(in_62 + no_right) == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis(raised_in_62 + in_62 + no_right) == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("ERR " + no_right + place) == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("ERR ACL failure in script: User x has" + place) == redis_errc::refused_credentials));
  BOOST_TEST((error_of_redis("WRONGTYPE Operation against a key" + place) == errc::foreign_data));
  BOOST_TEST((error_of_redis("ERR Error running script") == redis_errc::refused));
  BOOST_TEST((error_of_redis("@user_script:") == redis_errc::refused));
  BOOST_TEST((error_of_redis("@user_script: 1: ") == redis_errc::refused));
}

BOOST_AUTO_TEST_CASE(each_error_has_a_text) {
  for (int value = 1; value <= static_cast<int>(redis_errc::source_regressed); ++value) {
    BOOST_TEST(redis_category().message(value) != "unknown error", value);
  }
  BOOST_TEST(redis_category().message(100) == "unknown error");
  BOOST_TEST(std::string(redis_category().name()) == "zkrecipes.redis");
}

BOOST_AUTO_TEST_CASE(a_stream_is_described_by_its_fields) {
  const auto read = parse_stream_state(
      *reply_of(array_of(bulk("length"), std::string(":2\r\n"), bulk("last-generated-id"), bulk("9-1"),
                         bulk("max-deleted-entry-id"), bulk("4-0"), bulk("entries-added"), std::string(":6\r\n"),
                         bulk("first-entry"), good_entry("5-0"), bulk("last-entry"), good_entry("9-1"))));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->length == 2u);
  BOOST_TEST(to_string(read->last_generated) == "9-1");
  BOOST_TEST((read->first == stream_id{5, 0}));
  BOOST_TEST((read->added == 6u));
  BOOST_TEST((read->largest_deleted == stream_id{4, 0}));
  const auto old =
      parse_stream_state(*reply_of(array_of(bulk("length"), std::string(":0\r\n"), bulk("last-generated-id"),
                                            bulk("9-1"), bulk("first-entry"), std::string("$-1\r\n"))));
  BOOST_TEST_REQUIRE(old.has_value());
  BOOST_TEST((!old->first && !old->added && !old->largest_deleted));
  for (const auto& each : {std::string(":1\r\n"), array_of(), array_of(bulk("length"), std::string(":2\r\n")),
                           array_of(bulk("length"), bulk("x"), bulk("last-generated-id"), bulk("9-1"))}) {
    BOOST_TEST(!parse_stream_state(*reply_of(each)).has_value(), each);
  }
}

BOOST_AUTO_TEST_CASE(a_missing_key_and_a_role_are_recognised) {
  BOOST_TEST(is_missing_key(*reply_of("-ERR no such key\r\n")));
  BOOST_TEST(!is_missing_key(*reply_of("-WRONGTYPE x\r\n")));
  BOOST_TEST((parse_role(*reply_of(array_of(bulk("master"), std::string(":5\r\n")))) == "master"));
  BOOST_TEST(!parse_role(*reply_of("*0\r\n")).has_value());
  BOOST_TEST(!parse_role(*reply_of("+master\r\n")).has_value());
}

BOOST_AUTO_TEST_CASE(a_stream_that_ends_in_front_of_what_was_read_has_lost_entries) {
  const auto loss = loss_of(state_of({5, 0}, stream_id{1, 0}, 3), {4, 0}, true, {9, 0});
  BOOST_TEST(loss == "the last id of the stream is 5-0, and 9-0 was read from it before");
  BOOST_TEST(!loss_of(stream_state(), {4, 0}, false, {4, 0}).empty());  // the key has gone
  BOOST_TEST(loss_of(stream_state(), {}, false, {}).empty());           // it was never there
  BOOST_TEST(loss_of(state_of({9, 0}, stream_id{1, 0}, 3), {4, 0}, true, {9, 0}).empty());
}

BOOST_AUTO_TEST_CASE(a_consumed_entry_that_is_missing_tells_of_a_loss_unless_somebody_removed_it) {
  const stream_id last{5, 0};
  const auto judge = [&](const stream_state& now) { return loss_of(now, last, false, last); };
  // Behind a fail-over: older entries are there, newer ones were put since, and nobody has deleted any.
  BOOST_TEST(!judge(state_of({9, 0}, stream_id{4, 0}, 2, 4, stream_id{})).empty());
  BOOST_TEST(judge(state_of({9, 0}, stream_id{4, 0}, 2, 5, stream_id{5, 0})).empty());  // XDEL
  // The stream was begun anew: all entries that were ever added are there, and the first is newer.
  BOOST_TEST(!judge(state_of({9, 0}, stream_id{8, 0}, 2, 2, stream_id{})).empty());
  BOOST_TEST(judge(state_of({9, 0}, stream_id{8, 0}, 2, 7, stream_id{})).empty());  // XTRIM
  BOOST_TEST(judge(state_of({9, 0}, std::nullopt, 0, 7, stream_id{})).empty());     // emptied
  // Before Redis 7 the broker does not tell.
  BOOST_TEST(judge(state_of({9, 0}, stream_id{4, 0}, 2)).empty());
  BOOST_TEST(judge(state_of({9, 0}, stream_id{8, 0}, 2)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
