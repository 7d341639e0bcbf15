// A secure stream whose socket takes no more for a while.
#include <string>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "support/process.hpp"
#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct writing_case : stream_case {
  using stream_case::stream_case;
  std::string heard;  // by the server

  void server_reads() {
    server.take();
    heard += server.read();
  }

  /// Fills the buffers of the server's side, and returns the text.
  std::string say_more_than_can_be_sent() {
    const auto part = long_text(1000);
    std::string said;
    int looks = 0;  // in a row, because the system may only be about to send it
    BOOST_TEST_REQUIRE(until([&] {
      looks = socket.unsent() > 0 ? looks + 1 : 0;
      if (looks == 0) said += part.substr(0, user_writes(part));
      return looks == 20;
    }));
    return said;
  }

  /// The stream has read a part of the first ticket of the server, which has a record more of it to give.
  void open_within_a_ticket() {
    server.use_long_tickets();
    begin();
    BOOST_TEST_REQUIRE(until([&] {
      server.take();
      if (server.shake_hands()) return true;
      server.give();
      return false;
    }));
    BOOST_TEST_REQUIRE(connects == 1u);
    server.give(1000);
    relay();
  }

  bool exchange(const std::string& request, const std::string& answer) {
    return until([&] {
      server_reads();
      return heard == request && arrived == answer;
    });
  }

  /// Both sides write, and read, until the server has heard all of `by_user`, of which so much is written already.
  bool finish(const std::string& by_user, std::size_t written, std::size_t by_server) {
    return until([&] {
      written += user_writes(std::string_view(by_user).substr(written));
      server.give();
      server_reads();
      return heard.size() >= by_user.size() && arrived.size() >= by_server;
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_writing)

BOOST_DATA_TEST_CASE(megabytes_in_both_directions_at_once, all_tls_versions, version) {
  writing_case each(version);
  each.open_narrow();
  const auto up = long_text(3 << 20), down = long_text(4 << 20);
  each.server.write(down);
  BOOST_TEST_REQUIRE(each.finish(up, 0, down.size()));
  BOOST_TEST((each.heard == up));
  BOOST_TEST((each.arrived == down));
  BOOST_TEST(!each.stream->ended());
  BOOST_TEST(each.is_quiet());
}

BOOST_DATA_TEST_CASE(the_rest_is_sent_without_a_further_call, all_tls_versions, version) {
  writing_case each(version);
  each.open_narrow();
  const auto text = long_text(1 << 20);
  const auto written = each.user_fills(text);
  BOOST_TEST_REQUIRE(each.until([&] {
    each.server_reads();
    return each.heard.size() >= written;
  }));
  BOOST_TEST((each.heard == text.substr(0, written)));
}

/// The stream must answer by a new key of its own, which it can not write yet.
BOOST_AUTO_TEST_CASE(a_new_key_is_asked_for_while_the_socket_is_full) {
  writing_case each;
  each.open_narrow();
  const auto text = long_text(1 << 20);
  const auto written = each.user_fills(text);
  const auto turns = each.turns;
  each.server.write("one ");
  each.server.update_key(true);
  each.server.write("two");
  each.server.give();
  BOOST_TEST_REQUIRE(each.until([&] { return each.arrived == "one two"; }), "reading goes on");
  BOOST_TEST(each.is_quiet());
  BOOST_TEST(each.turns - turns < 20u);
  BOOST_TEST(each.server.key_updates() == 0u, "the answer can not be written yet");
  BOOST_TEST_REQUIRE(each.finish(text, written, 7));
  BOOST_TEST((each.heard == text));
  BOOST_TEST(each.server.key_updates() == 1u);
  BOOST_TEST(each.turns - turns < text.size() / 100);
  each.server.write(" three");
  each.server.give();
  BOOST_TEST(each.until([&] { return each.arrived == "one two three"; }));
  BOOST_TEST(each.is_quiet());
}

/// The system takes nothing from the moment when the new key is to be written.
BOOST_AUTO_TEST_CASE(a_new_key_waits_for_the_socket) {
  writing_case each;
  each.server.narrow(4 << 10);
  each.open();
  each.socket.in_segments = true;
  auto said = each.say_more_than_can_be_sent();
  each.socket.take_nothing_behind_unsent();
  BOOST_TEST_REQUIRE(!each.socket.takes_more());
  each.server.update_key(true);
  each.server.write("one");
  each.server.give();
  BOOST_TEST_REQUIRE(each.until([&] { return each.arrived == "one"; }));
  said += "last";
  each.user_writes("last");
  each.server.write("two");
  const auto size = each.server.give();
  BOOST_TEST_REQUIRE(wait_until([&] { return each.socket.waiting() == size; }));
  BOOST_TEST(each.is_quiet(), "although there is something to read");
  BOOST_TEST_REQUIRE(each.server.key_updates() == 0u);
  BOOST_TEST_REQUIRE(each.finish(said, said.size(), 6));
  BOOST_TEST((each.heard == said));
  BOOST_TEST(each.arrived == "onetwo");
  BOOST_TEST(each.server.key_updates() == 1u);
  BOOST_TEST(each.is_quiet());
}

/// Stops within a record, at its end, within the new key behind it, and within the record that follows.
BOOST_AUTO_TEST_CASE(a_new_key_is_asked_for_while_the_socket_is_full_after_each_byte) {
  writing_case each;
  each.open();
  constexpr std::size_t together = 27 + 27 + 28;  // a text of five bytes, the key, and a text of six
  std::string said, told;
  for (std::size_t size = 0; size <= together + 1; ++size) {
    each.socket.room = size;
    said += "first";
    each.user_writes("first");
    each.server.update_key(true);
    each.server.write("one");
    each.server.give();
    told += "one";
    BOOST_TEST_INFO("after " << size << " bytes");
    BOOST_TEST_REQUIRE(each.until([&] { return each.arrived == told; }));
    said += "second";
    each.user_writes("second");
    each.server.write("two");
    each.server.give();
    told += "two";
    for (int i = 0; i < 10; ++i) each.io.poll_one();
    BOOST_TEST_REQUIRE((each.socket.room == 0) == (size <= together));
    each.socket.room = watched_socket::unlimited;
    BOOST_TEST_REQUIRE(each.finish(said, said.size(), told.size()));
    BOOST_TEST_REQUIRE(each.heard == said);
    BOOST_TEST_REQUIRE(each.arrived == told);
    BOOST_TEST_REQUIRE(each.server.key_updates() == size + 1);
    BOOST_TEST_REQUIRE(each.is_quiet());
  }
}

// OpenSSL reads the rest of a ticket before it writes. What it would read besides would stay inside: the socket, which
// is empty then, tells nothing.
BOOST_AUTO_TEST_CASE(in_the_middle_of_a_ticket_an_answer_is_not_kept_back) {
  writing_case each;
  each.open_within_a_ticket();
  each.server.write("answer");
  each.server.give();
  BOOST_TEST(each.user_writes("request") > 0u);
  BOOST_TEST(each.exchange("request", "answer"));
}

BOOST_AUTO_TEST_CASE(a_request_in_the_middle_of_a_ticket_is_sent_behind_it) {
  writing_case each;
  each.open_within_a_ticket();
  BOOST_TEST(each.user_writes("request") > 0u);
  BOOST_TEST(each.is_quiet());
  each.server_reads();
  BOOST_TEST(each.heard == "");
  each.server.give();
  BOOST_TEST(each.exchange("request", ""));
  each.server.write("answer");
  each.server.give();
  BOOST_TEST(each.exchange("request", "answer"));
}

BOOST_AUTO_TEST_SUITE_END()
