// What operators ask of a topic: where a group is moved to, and which dead letters are put back.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/topic.hpp>

#include "topic/log_position.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
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

struct idle_consumer : queue_consumer {
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
    const idle_consumer one(feed);
    BOOST_CHECK_THROW(idle_consumer{feed}, std::invalid_argument);
    const idle_consumer of_another_feed(orders.feed(0, "g"));
  }
  const idle_consumer next(feed);
}

BOOST_AUTO_TEST_SUITE_END()
