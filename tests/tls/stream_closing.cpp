// `close` of a secure stream that is reading, writing, or calling its user.
#include <memory>
#include <set>
#include <string>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "support/process.hpp"
#include "tls/stream_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
