// Dead letters that keep a part of their message, because all of it is too large for a request.
#include <boost/test/unit_test.hpp>

#include "delivery/message_in_hand.hpp"
#include "queue/dead_letter.hpp"
#include "source/source_letters.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

constexpr std::size_t bytes_of_request = 1'000'000;

struct large_message {
  large_message() {
    what.name = "5-1";
    what.key = "k";
    what.data.assign(3'000, 'x');
    what.attempts = 3;
    how.how = settlement::kind::park;
    how.what = &what;
    how.reason = "no";
    how.epoch = 7;
  }
  dead_letter letter() const { return letter_of(how, 4); }

  message what;
  settlement how;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_letters)

BOOST_FIXTURE_TEST_CASE(without_a_bound_a_letter_is_whole, large_message) {
  what.key.assign(2'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.item == "0004/5-1");
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
  BOOST_TEST(write_letter(made).find("missing_bytes") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(what_is_left_out_is_counted, large_message) {
  how.most_data = 1'000;
  auto made = letter();
  BOOST_TEST(made.data == std::string(1'000, 'x'));
  BOOST_TEST(made.key == "k");
  BOOST_TEST(made.reason == "no");
  BOOST_TEST(made.missing_bytes == 2'000u);
  how.most_data = 0;
  what.key.assign(5'000, 'k');
  made = letter();
  BOOST_TEST(made.data.empty());
  BOOST_TEST(made.key == std::string(1'000, 'k'));
  BOOST_TEST(made.missing_bytes == 7'000u);
}

BOOST_FIXTURE_TEST_CASE(a_bound_that_is_not_reached_leaves_it_whole, large_message) {
  how.most_data = 3'000;
  what.key.assign(1'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(it_is_stored_with_what_is_missing, large_message) {
  how.most_data = 5;
  const auto text = write_letter(letter());
  BOOST_TEST(text.ends_with(",\"missing_bytes\":2995}\nxxxxx"), text);
  const auto read = read_letter(text);
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->missing_bytes == 2'995u);
  BOOST_TEST(read->data == "xxxxx");
  BOOST_TEST(read->key == "k");
  BOOST_TEST(read->reason == "no");
  BOOST_TEST(read->epoch == 7);
}

BOOST_AUTO_TEST_CASE(a_letter_that_may_be_cut_is_not_taken_for_whole) {
  const auto with = [](const std::string& field) {
    return read_letter(R"({"zkrecipes":"dead_letter","item":"i","attempts":1,"reason":"r")" + field + "}\ndata");
  };
  BOOST_TEST_REQUIRE(with("").has_value());
  BOOST_TEST(with("")->missing_bytes == 0u);
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":0)").has_value());
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":9223372036854775807)").has_value());
  BOOST_TEST(with(R"(,"missing_bytes":9223372036854775807)")->missing_bytes == 9'223'372'036'854'775'807u);
  for (const auto* bad : {"-1", "9223372036854775808", "2.5", "\"7\"", "null"}) {
    BOOST_TEST(!with(std::string(",\"missing_bytes\":") + bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_whole_loses_its_reason_only) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, false, bytes_of_request));
  BOOST_TEST(!bounds.has_reason);
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(!bounds.shrink(false, false, bytes_of_request));
}

BOOST_AUTO_TEST_CASE(a_message_that_may_be_cut_keeps_its_reason_and_as_much_as_fits) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(bounds.shrink(false, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 2);
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 4);
}

BOOST_AUTO_TEST_CASE(it_gets_smaller_until_nothing_is_left) {
  for (const bool is_told : {true, false}) {
    letter_bounds bounds;
    auto most = bytes_of_request;
    std::size_t steps = 0;
    while (bounds.shrink(is_told && bounds.has_reason, true, bytes_of_request)) {
      BOOST_TEST_REQUIRE(++steps < 50u);
      BOOST_TEST(bounds.most_data.value_or(bytes_of_request) <= most);
      most = bounds.most_data.value_or(bytes_of_request);
    }
    BOOST_TEST(bounds.most_data.value() == 0u);
    BOOST_TEST(bounds.has_reason == !is_told);
  }
}

BOOST_AUTO_TEST_SUITE_END()
