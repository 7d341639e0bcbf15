// A handshake that stops anywhere.
#include <memory>

#include <fcntl.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/tls_options.hpp>

#include "support/process.hpp"
#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct handshake_case : stream_case {
  using stream_case::stream_case;

  /// A new stream gets so many bytes of what the server answers first, and has read them. False: so many there are not.
  bool stop_after(std::size_t size) {
    renew();
    begin();
    BOOST_TEST_REQUIRE(until([&] {
      server.take();
      server.shake_hands();
      return server.to_give() > 0;
    }));
    if (size >= server.to_give()) return false;
    BOOST_TEST_REQUIRE(server.give(size) == size);
    BOOST_TEST_REQUIRE(until([&] { return socket.bytes_read() == size; }));
    return true;
  }
  /// Until more has come than the head of a record, it may be no server of TLS at all.
  bool is_told_rightly() {
    has_answered = has_answered || connected == tls_errc::handshake_failed;
    return connected == (has_answered ? tls_errc::handshake_failed : tls_errc::not_tls);
  }

  bool has_answered = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_stream_handshake)

BOOST_DATA_TEST_CASE(the_server_ends_it_after_each_byte, all_tls_versions, version) {
  handshake_case each(version);
  std::size_t size = 0;
  for (; each.stop_after(size); ++size) {
    BOOST_TEST_REQUIRE(each.connects == 0u, size);
    each.server.close();
    BOOST_TEST_REQUIRE(each.until([&] { return each.connects > 0; }), size);
    BOOST_TEST_REQUIRE(each.is_told_rightly(), size << ": " << each.connected.message());
    BOOST_TEST_REQUIRE((size > 5 || !each.has_answered), size);  // so long is the head of a record
    BOOST_TEST_REQUIRE(each.is_quiet(), size);
    BOOST_TEST_REQUIRE(each.connects == 1u, size);
  }
  BOOST_TEST(size > 500u);
  BOOST_TEST(each.has_answered);
}

BOOST_DATA_TEST_CASE(the_server_resets_it_after_each_byte, all_tls_versions, version) {
  handshake_case each(version);
  for (std::size_t size = 0; each.stop_after(size); size += 7) {
    each.server.reset();
    BOOST_TEST_REQUIRE(each.until([&] { return each.connects > 0; }), size);
    BOOST_TEST_REQUIRE(each.is_told_rightly(), size << ": " << each.connected.message());
    BOOST_TEST_REQUIRE((size > 5 || !each.has_answered), size);  // so long is the head of a record
  }
  BOOST_TEST(each.has_answered);
}

BOOST_AUTO_TEST_CASE(the_server_ends_it_when_it_has_asked_for_another_hello) {
  handshake_case each(TLS1_3_VERSION);
  each.server.want_another_hello();
  BOOST_TEST_REQUIRE(!each.stop_after(manual_server::all));
  const auto size = each.server.give();
  BOOST_TEST_REQUIRE(each.until([&] { return each.socket.bytes_read() == size; }));
  each.server.close();
  BOOST_TEST_REQUIRE(each.until([&] { return each.connects > 0; }));
  BOOST_TEST((each.connected == tls_errc::handshake_failed), each.connected.message());
}

BOOST_DATA_TEST_CASE(it_is_given_up_after_each_byte, all_tls_versions, version) {
  handshake_case each(version);
  for (std::size_t size = 0; each.stop_after(size); ++size) {
    const std::weak_ptr<backend::tls_stream> remains = each.stream;
    each.stream->close();
    each.stream.reset();
    BOOST_TEST_REQUIRE(each.until([&] { return remains.expired(); }), size);
    BOOST_TEST_REQUIRE(each.connects == 0u, size);
    BOOST_TEST_REQUIRE(::fcntl(each.socket.descriptor(), F_GETFD) == -1, size);
    BOOST_TEST_REQUIRE(each.until([&] {
      each.server.take();
      return each.server.has_seen_end();
    }));
  }
  each.renew();
}

BOOST_DATA_TEST_CASE(it_comes_byte_by_byte, all_tls_versions, version) {
  stream_case each(version);
  each.begin();
  bool is_complete = false;
  BOOST_TEST_REQUIRE(each.until([&] {
    each.server.take();
    is_complete = each.server.shake_hands();
    each.server.give(1);
    return is_complete && each.connects > 0;
  }));
  BOOST_TEST(!each.connected, each.connected.message());
  BOOST_TEST(each.connects == 1u);
}

/// Both are ready at once then: the connection, and that it has been given up.
BOOST_AUTO_TEST_CASE(it_is_given_up_before_it_begins) {
  stream_case each;
  const auto before = open_descriptors();
  for (std::size_t turns = 0; turns < 4; ++turns) {
    each.renew();
    each.begin();
    for (std::size_t i = 0; i < turns; ++i) each.io.poll_one();
    const std::weak_ptr<backend::tls_stream> remains = each.stream;
    each.renew();
    BOOST_TEST_REQUIRE(each.until([&] { return remains.expired(); }));
    BOOST_TEST(each.connects == 0u);
    each.server.close();
    BOOST_TEST((open_descriptors() == before));
  }
}

BOOST_AUTO_TEST_CASE(the_event_loop_ends_before_it) {
  stream_case each;
  const auto before = open_descriptors();
  for (std::size_t turns = 0; turns < 4; ++turns) {
    asio::io_context apart;
    auto left = each.make(apart);
    left->connect(each.server.address(), [&](error_code) { ++each.connects; });
    each.server.accept();
    for (std::size_t i = 0; i < turns; ++i) apart.poll_one();
  }
  BOOST_TEST(each.connects == 0u);
  each.server.close();
  BOOST_TEST((open_descriptors() == before));
}

BOOST_AUTO_TEST_SUITE_END()
