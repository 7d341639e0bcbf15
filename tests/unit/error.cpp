// Every error code has a message of its own.
#include <set>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/tls_error.hpp>

using namespace zkrecipes;

namespace {

constexpr int first = static_cast<int>(errc::connection_loss);
constexpr int last = static_cast<int>(errc::auth_required);

}  // namespace

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(each_code_has_its_own_text) {
  std::set<std::string> texts;
  for (int value = first; value <= last; ++value) {
    const error_code error(value, error_category());
    BOOST_TEST(error.message() != "unknown error", value);
    BOOST_TEST(texts.insert(error.message()).second, "twice: " << error.message());
  }
  BOOST_TEST(error_code(last + 1, error_category()).message() == "unknown error");
}

BOOST_AUTO_TEST_CASE(each_reason_of_tls_has_its_own_text) {
  std::set<std::string> texts;
  const int last_reason = static_cast<int>(tls_errc::handshake_failed);
  for (int value = static_cast<int>(tls_errc::unknown_authority); value <= last_reason; ++value) {
    const error_code error(value, tls_error_category());
    BOOST_TEST(error.message() != "unknown error", value);
    BOOST_TEST(texts.insert(error.message()).second, "twice: " << error.message());
  }
  BOOST_TEST(std::string(tls_error_category().name()) == "zkrecipes.tls");
  BOOST_TEST((make_error_code(tls_errc::expired) != errc::session_expired));
}

BOOST_AUTO_TEST_CASE(codes_are_compared_and_named) {
  const error_code error = errc::no_node;
  BOOST_TEST((error == errc::no_node));
  BOOST_TEST((error != errc::node_exists));
  BOOST_TEST(std::string(error.category().name()) == "zkrecipes");
  BOOST_TEST(error.failed());
}

BOOST_AUTO_TEST_CASE(fatal_are_those_after_which_the_session_is_of_no_use) {
  for (int value = first; value <= last; ++value) {
    const auto which = static_cast<errc>(value);
    const bool expected = which == errc::closed || which == errc::auth_failed;
    BOOST_TEST(is_fatal(which) == expected, make_error_code(which).message());
  }
  BOOST_TEST(!is_fatal({}));
}

BOOST_AUTO_TEST_CASE(a_loss_is_the_end_of_an_ownership) {
  const std::set<errc> losses{errc::session_expired, errc::lease_lapsed, errc::node_removed, errc::revoked,
                              errc::closed};
  for (int value = first; value <= last; ++value) {
    const auto which = static_cast<errc>(value);
    BOOST_TEST(is_loss(which) == losses.contains(which), make_error_code(which).message());
  }
  BOOST_TEST(!is_loss({}));
}

BOOST_AUTO_TEST_SUITE_END()
