// What a secure stream makes of what comes from the server: in which portions, and how much in one turn.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "support/process.hpp"
#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::size_t most_reads = 16;       // of one turn
constexpr std::size_t key_update_size = 27;  // bytes of a record that changes the key

/// A server that has more whenever the stream reads, and another user of the executor, who comes again at once.
struct flood_case : stream_case {
  std::size_t turns_of_other = 0;
  std::size_t longest = 0;  ///< So many reads stood between two turns of the other.

  /// Until the user has so many bytes. After each read so many more have come.
  void flood(std::size_t expected, std::size_t portion) {
    socket.after_read = [this, portion] {
      if (server.give(portion) > 0) BOOST_TEST_REQUIRE(wait_until([&] { return socket.waiting() > 0; }));
    };
    before_ = socket.reads();
    go_on();
    server.give(portion);
    BOOST_TEST_REQUIRE(until([&] { return arrived.size() >= expected; }));
    is_over_ = true;
    is_quiet();
  }

 private:
  void go_on() {
    asio::post(io, [this] {
      ++turns_of_other;
      longest = std::max(longest, socket.reads() - std::exchange(before_, socket.reads()));
      if (!is_over_) go_on();
    });
  }
  std::size_t before_ = 0;
  bool is_over_ = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_reading)

BOOST_FIXTURE_TEST_CASE(a_flood_of_data_leaves_turns_to_others, flood_case) {
  open();
  const auto text = long_text(8 << 20);
  server.write(text);
  flood(text.size(), 64 << 10);
  BOOST_TEST((arrived == text));
  BOOST_TEST(longest <= most_reads);
  BOOST_TEST(longest > 1u, "the stream has more to read than one record in each turn");
}

/// Records without data: OpenSSL does not return from one call as long as more of them come.
BOOST_FIXTURE_TEST_CASE(a_flood_of_new_keys_leaves_turns_to_others, flood_case) {
  open();
  constexpr std::size_t updates = 1000;
  const auto before = server.to_give();
  for (std::size_t i = 0; i < updates; ++i) server.update_key(false);
  BOOST_TEST_REQUIRE(server.to_give() - before == updates * key_update_size);
  server.write("end");
  flood(3, key_update_size);
  BOOST_TEST(arrived == "end");
  BOOST_TEST(longest <= most_reads);
  BOOST_TEST(longest > 1u);
  BOOST_TEST(turns_of_other > updates / most_reads);
}

/// The second one would stay inside OpenSSL if the stream waited for the socket, on which nothing more comes.
BOOST_DATA_TEST_CASE(records_that_came_together_are_passed_on_at_once, all_tls_versions, version) {
  stream_case each(version);
  each.open();
  const auto text = long_text(16'500);  // more than the stream passes on in one portion
  each.server.write(text.substr(0, 16'000));
  each.server.write(text.substr(16'000));
  const auto size = each.server.to_give();
  const auto reads = each.socket.reads();
  BOOST_TEST_REQUIRE(each.server.give() == size);
  BOOST_TEST_REQUIRE(wait_until([&] { return each.socket.waiting() == size; }));
  BOOST_TEST_REQUIRE(each.until([&] { return each.arrivals > 0; }));
  BOOST_TEST((each.arrived == text), "in one turn");
  BOOST_TEST(each.socket.reads() - reads <= 2u);
  BOOST_TEST(each.is_quiet());
}

BOOST_DATA_TEST_CASE(many_small_records_take_one_read_and_one_call, all_tls_versions, version) {
  stream_case each(version);
  each.open();
  std::string text;
  for (int i = 0; i < 50; ++i) {
    each.server.write(std::to_string(i));
    text += std::to_string(i);
  }
  const auto size = each.server.to_give();
  const auto reads = each.socket.reads();
  each.server.give();
  BOOST_TEST_REQUIRE(wait_until([&] { return each.socket.waiting() == size; }));
  BOOST_TEST_REQUIRE(each.until([&] { return each.arrivals > 0; }));
  BOOST_TEST(each.arrived == text);
  BOOST_TEST(each.socket.reads() - reads == 1u);
  BOOST_TEST(each.is_quiet());
  BOOST_TEST(each.arrivals == 1u);
}

BOOST_DATA_TEST_CASE(a_record_may_come_byte_by_byte, all_tls_versions, version) {
  stream_case each(version);
  each.open();
  each.server.write("one");
  each.server.write("two");
  while (each.server.to_give() > 0) {
    each.server.give(1);
    BOOST_TEST_REQUIRE(each.until([&] { return each.socket.bytes_read() == each.server.given(); }));
    BOOST_TEST((each.arrived.size() == 0 || each.arrived == "one" || each.arrived == "onetwo"));
  }
  BOOST_TEST(each.arrived == "onetwo");
  BOOST_TEST(each.arrivals == 2u);
}

/// It reads only when it is told, and one record is more than its socket takes at once.
BOOST_DATA_TEST_CASE(a_user_with_a_small_buffer_is_told_of_each_part, all_tls_versions, version) {
  stream_case each(version);
  each.open_narrow();
  const auto text = long_text(16 << 10);
  each.server.write(text);
  BOOST_TEST_REQUIRE(each.until([&] {
    each.server.give();
    return each.arrived.size() >= text.size();
  }));
  BOOST_TEST((each.arrived == text));
  BOOST_TEST(each.arrivals > 1u);
}

BOOST_DATA_TEST_CASE(a_user_who_does_not_read_holds_the_server_up, all_tls_versions, version) {
  stream_case each(version);
  each.open_narrow();
  each.is_reading = false;
  const auto text = long_text(1 << 20);
  each.server.write(text);
  BOOST_TEST_REQUIRE(each.until([&] { return each.server.give() == 0 && each.is_quiet(); }));
  BOOST_TEST(each.server.to_give() > text.size() / 2,
             "the stream keeps one portion, and leaves the rest to the sockets");
  BOOST_TEST(each.until([&] {
    each.server.give();
    each.user_reads();
    return each.arrived.size() >= text.size();
  }));
  BOOST_TEST((each.arrived == text));
}

BOOST_AUTO_TEST_SUITE_END()
