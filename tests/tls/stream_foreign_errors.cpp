// OpenSSL keeps errors in a queue of the thread, and takes what somebody else left there for an error of the next call.
#include <string>

#include <openssl/err.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
