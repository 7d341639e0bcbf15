// The end of a secure stream: by the server, by garbage, and by `close`.
#include <cerrno>
#include <memory>
#include <ostream>
#include <set>
#include <string>

#include <openssl/err.h>
#include <poll.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/tls_options.hpp>

#include "support/process.hpp"
#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct ending_case : stream_case {
  using stream_case::stream_case;

  /// The system has heard that there is no connection any more.
  bool is_broken() const {
    pollfd each{socket.descriptor(), 0, 0};
    return wait_until([&] { return ::poll(&each, 1, 0) > 0 && (each.revents & POLLHUP); });
  }

  /// The stream has ended with this error behind this text, and nothing goes on.
  void check_end(const error_code& why, const std::string& text) {
    await_end();
    BOOST_TEST(stream->ended() == why, stream->ended().message());
    BOOST_TEST(arrived == text);
    BOOST_TEST(is_quiet());
    BOOST_TEST(user_writes("more") == 4u, "without the signal SIGPIPE");
    BOOST_TEST(is_quiet());
  }
};

struct garbage {
  std::string bytes;
  tls_errc reason;
  friend std::ostream& operator<<(std::ostream& to, const garbage& each) {
    return to << each.bytes.size() << " bytes, " << make_error_code(each.reason).message();
  }
};

std::string record(std::string head, std::size_t size) { return head + std::string(size, 'x'); }

const garbage all_garbage[] = {
    {"HTTP/1.1 400 Bad Request\r\n\r\n", tls_errc::not_tls},
    {std::string("\0\0\0\x10\0\0\0\1", 8), tls_errc::not_tls},
    {record("\x17\x03\x03\xff\xff", 100), tls_errc::not_tls},                                  // too long
    {record(std::string("\x17\x03\x03\0\x40", 5), 64), tls_errc::handshake_failed},            // not by the server
    {record(std::string("\x17\x03\x03\0\x05", 5), 5), tls_errc::handshake_failed},             // too short for its code
    {record(std::string("\x16\x03\x03\0\x40\0\0\0\x3c", 9), 60), tls_errc::handshake_failed},  // in plain text
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_endings)

BOOST_DATA_TEST_CASE(by_a_farewell, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.server.write("last");
  each.server.notify_close();
  each.server.write_raw("nobody reads this");
  BOOST_TEST(!each.stream->ended());
  each.server.give();  // the socket stays open
  each.check_end(errc::connection_loss, "last");
}

BOOST_DATA_TEST_CASE(without_a_farewell, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.server.write("last");
  each.server.give();
  each.server.close();
  each.check_end(errc::connection_loss, "last");
}

BOOST_DATA_TEST_CASE(within_a_record, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.server.write("whole");
  each.server.write("part");
  each.server.give(each.server.to_give() - 1);
  each.server.close();
  each.check_end(errc::connection_loss, "whole");
}

BOOST_DATA_TEST_CASE(by_a_reset, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.server.reset();
  each.check_end(errc::connection_loss, "");
}

BOOST_DATA_TEST_CASE(by_garbage,
                     boost::unit_test::data::make(all_tls_versions) * boost::unit_test::data::make(all_garbage),
                     version, what) {
  ending_case each(version);
  each.open();
  each.server.write("before");
  each.server.write_raw(what.bytes);
  each.server.give();
  each.check_end(what.reason, "before");
}

/// By then the server did not mind that there is no certificate.
BOOST_DATA_TEST_CASE(by_an_alert_behind_data, all_tls_versions, version) {
  ending_case each(version);
  each.server.ask_client(stream_authority());
  each.open();
  each.server.write("before");
  each.server.take_instead(record(std::string("\x17\x03\x03\0\x40", 5), 64));
  each.server.read();
  BOOST_TEST_REQUIRE(each.server.to_give() > 0u);
  each.server.give();
  each.check_end(tls_errc::handshake_failed, "before");
}

BOOST_DATA_TEST_CASE(while_the_user_writes, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.server.close();
  each.user_writes("the system takes this, and the answer is a reset");
  BOOST_TEST_REQUIRE(each.is_broken());
  BOOST_TEST(each.user_writes("this fails") == 10u);
  BOOST_TEST_REQUIRE(each.socket.broken_pipes() > 0u);
  each.check_end(errc::connection_loss, "");
}

/// Although the server is there, and what it sends can be read: what was not written is missing in the stream.
BOOST_DATA_TEST_CASE(by_a_write_that_fails, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.socket.failure = ENOBUFS;
  each.user_writes("this fails");
  each.socket.failure = 0;
  each.check_end(errc::connection_loss, "");
}

BOOST_DATA_TEST_CASE(by_a_reset_while_the_socket_is_full, all_tls_versions, version) {
  ending_case each(version);
  each.open_narrow();
  each.user_fills(long_text(1 << 20));
  each.server.reset();
  each.await_end();
  BOOST_TEST((each.stream->ended() == errc::connection_loss), each.stream->ended().message());
  BOOST_TEST(each.is_quiet());
}

BOOST_AUTO_TEST_CASE(the_reason_is_read_behind_writes_that_fail) {
  ending_case each;
  each.server.require_client(stream_authority());
  each.begin();
  BOOST_TEST_REQUIRE(each.until([&] {
    if (each.connects > 0) return true;
    each.server.take();
    each.server.shake_hands();
    each.server.give();
    return false;
  }));
  each.relay();
  BOOST_TEST_REQUIRE(wait_until([&] {
    each.server.take();
    each.server.shake_hands();
    return each.server.to_give() > 0;
  }));
  each.server.give();
  each.server.reset();
  BOOST_TEST_REQUIRE(each.is_broken());
  for (int i = 0; i < 2; ++i) each.user_writes("this fails");
  BOOST_TEST_REQUIRE(each.socket.broken_pipes() > 0u);
  each.check_end(tls_errc::certificate_required, "");
}

/// The last message of the handshake can not be written, and behind what it answers stands the reason.
BOOST_AUTO_TEST_CASE(the_reason_is_read_behind_a_handshake_that_can_not_be_written) {
  ending_case each;
  each.begin();
  BOOST_TEST_REQUIRE(each.until([&] {
    each.server.take();
    each.server.shake_hands();
    return each.server.to_give() > 0;
  }));
  each.server.take_instead(record(std::string("\x17\x03\x03\0\x40", 5), 64));
  each.server.shake_hands();
  each.server.give();
  const auto given = each.server.given();
  each.server.reset();
  BOOST_TEST_REQUIRE(each.is_broken());
  BOOST_TEST_REQUIRE(each.until([&] { return each.connects > 0; }));
  BOOST_TEST_REQUIRE(!each.connected, each.connected.message());
  BOOST_TEST(each.socket.bytes_read() <= given);
  each.hand_over();
  each.check_end(tls_errc::handshake_failed, "");
}

BOOST_DATA_TEST_CASE(by_the_user, all_tls_versions, version) {
  ending_case each(version);
  each.open();
  each.close_user();
  each.server.write("nobody reads this");
  each.server.give();
  BOOST_TEST(each.until([&] { return bool(each.stream->ended()); }));
  BOOST_TEST((each.stream->ended() == errc::connection_loss), each.stream->ended().message());
  BOOST_TEST(each.is_quiet());
}

BOOST_AUTO_TEST_SUITE_END()

// OpenSSL keeps errors in a queue of the thread, and takes what somebody else left there for an error of the next call.

namespace {

/// Leaves errors before each turn, and before each call of the stream.
struct foreign_errors : stream_case {
  explicit foreign_errors(int version) : stream_case(version) {
    before_turn = [] { ERR_raise(ERR_LIB_USER, 1); };
  }
  ~foreign_errors() { ERR_clear_error(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_foreign_errors)

BOOST_DATA_TEST_CASE(in_the_handshake, all_tls_versions, version) {
  foreign_errors each(version);
  each.establish();
}

BOOST_DATA_TEST_CASE(while_it_reads, all_tls_versions, version) {
  foreign_errors each(version);
  each.open();
  each.server.write("text");
  while (each.server.to_give() > 0) {
    each.server.give(1);
    BOOST_TEST_REQUIRE(each.until([&] { return each.socket.bytes_read() == each.server.given(); }));
  }
  BOOST_TEST(!each.stream->ended(), each.stream->ended().message());
  BOOST_TEST(each.arrived == "text");
}

BOOST_DATA_TEST_CASE(while_it_writes, all_tls_versions, version) {
  foreign_errors each(version);
  each.open();
  std::string heard;
  each.socket.room = 10;
  each.user_writes("text");
  each.is_quiet();  // the socket takes no more, and the stream asks it again and again
  each.socket.room = watched_socket::unlimited;
  BOOST_TEST(each.until([&] {
    each.server.take();
    heard += each.server.read();
    return heard == "text" || each.stream->ended();
  }));
  BOOST_TEST(heard == "text");
}

BOOST_AUTO_TEST_SUITE_END()

// `close` of a secure stream that is reading, writing, or calling its user.

namespace {

struct closing_case : stream_case {
  explicit closing_case(int version) : stream_case(version), before(open_descriptors()) {}

  std::set<std::string> before;

  /// Lets go of the stream, which `close` has been called for: it ends soon, and calls nobody.
  void check_nothing_remains() {
    const auto calls = arrivals;
    const std::weak_ptr<backend::tls_stream> remains = stream;
    stream.reset();
    const auto begin = turns;
    BOOST_TEST_REQUIRE(until([&] { return remains.expired(); }));
    BOOST_TEST(turns - begin <= 4u);
    BOOST_TEST(is_quiet());
    BOOST_TEST(arrivals == calls);
    user_reads();
    BOOST_TEST(has_user_seen_end);
    close_user();
    server.close();
    BOOST_TEST((open_descriptors() == before));
    renew();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_closing)

BOOST_DATA_TEST_CASE(while_it_waits_for_data, all_tls_versions, version) {
  closing_case each(version);
  each.open();
  each.stream->close();
  each.check_nothing_remains();
}

BOOST_DATA_TEST_CASE(while_it_reads_and_writes, all_tls_versions, version) {
  closing_case each(version);
  each.open_narrow();
  each.user_fills(long_text(1 << 20));
  each.stream->close();
  each.stream->close();
  each.stream->forward();
  each.check_nothing_remains();
}

BOOST_DATA_TEST_CASE(while_the_user_does_not_read, all_tls_versions, version) {
  closing_case each(version);
  each.open_narrow();
  each.is_reading = false;
  each.server.write(long_text(1 << 20));
  BOOST_TEST_REQUIRE(each.until([&] { return each.server.give() == 0 && each.is_quiet(); }));
  BOOST_TEST_REQUIRE(each.server.to_give() > 0u);
  each.stream->close();
  each.check_nothing_remains();
}

/// As the handlers of waits that have ended are about to run.
BOOST_DATA_TEST_CASE(when_data_has_come, all_tls_versions, version) {
  closing_case each(version);
  each.open();
  each.server.write("late");
  const auto size = each.server.give();
  BOOST_TEST_REQUIRE(wait_until([&] { return each.socket.waiting() == size; }));
  each.stream->close();
  each.check_nothing_remains();
  BOOST_TEST(each.arrived == "");
}

BOOST_DATA_TEST_CASE(by_the_user_who_is_called, all_tls_versions, version) {
  closing_case each(version);
  each.open();
  each.server.write(long_text(3 << 14));  // three portions
  const auto size = each.server.give();
  BOOST_TEST_REQUIRE(wait_until([&] { return each.socket.waiting() == size; }));
  each.on_arrival = [&] { each.stream->close(); };
  BOOST_TEST_REQUIRE(each.until([&] { return each.arrivals > 0; }));
  BOOST_TEST(each.arrivals == 1u);
  each.check_nothing_remains();
}

BOOST_DATA_TEST_CASE(by_the_user_who_is_told_of_the_end, all_tls_versions, version) {
  closing_case each(version);
  each.open();
  each.on_arrival = [&] { each.stream->close(); };
  each.server.close();
  each.await_end();
  each.check_nothing_remains();
}

/// The user can lose interest in between.
BOOST_AUTO_TEST_CASE(before_it_relays) {
  closing_case each(TLS1_3_VERSION);
  each.establish();
  each.hand_over();
  each.stream->close();
  each.check_nothing_remains();
}

BOOST_AUTO_TEST_SUITE_END()
