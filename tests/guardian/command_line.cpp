// The options of the guardian: nothing that is dangerous happens without being asked for.
#include "command_line.hpp"

#include <vector>

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;

namespace {

std::optional<guardian::invocation> invocation_of(std::vector<const char*> words) {
  words.insert(words.begin(), "zkrecipes-guardian");
  int status = 0;
  auto asked = guardian::parse_command_line(static_cast<int>(words.size()), words.data(), status);
  BOOST_TEST((asked.has_value() || status != 0));
  return asked;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line)

BOOST_AUTO_TEST_CASE(the_early_proof_is_off_unless_it_is_asked_for) {
  const auto plain = invocation_of({"--socket", "/run/g.sock"});
  BOOST_TEST_REQUIRE(plain.has_value());
  BOOST_TEST(!plain->options.early.after_end_of_line);
  BOOST_TEST((plain->options.early.always == 0ms));
  const auto early = invocation_of({"--early-proof"});
  BOOST_TEST_REQUIRE(early.has_value());
  BOOST_TEST(early->options.early.after_end_of_line);
  BOOST_TEST((early->options.early.always == 0ms), "only after the end of a connection");
  const auto always = invocation_of({"--early-proof", "--early-proof-every", "25"});
  BOOST_TEST_REQUIRE(always.has_value());
  BOOST_TEST(always->options.early.after_end_of_line);
  BOOST_TEST((always->options.early.always == 25ms));
}

BOOST_AUTO_TEST_CASE(looking_all_the_time_needs_the_early_proof) {
  BOOST_TEST(!invocation_of({"--early-proof-every", "25"}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
