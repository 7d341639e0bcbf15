// Every error code has a message of its own.
#include <set>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/tls_options.hpp>

#include "backend/worded_errors.hpp"
#include "backend/zookeeper/c_client_calls.hpp"
#include "session/outcomes.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

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

BOOST_AUTO_TEST_CASE(what_a_server_says_by_number_is_told_with_the_number) {
  const auto quota = backend::from_c_client(-125);
  BOOST_TEST((quota == errc::server_error));
  BOOST_TEST((quota.category() == error_category()));
  BOOST_TEST(std::string(quota.category().name()) == error_category().name());
  BOOST_TEST(quota.message() == "the server could not do it: error -125, a quota is exceeded");
  const auto unknown = backend::from_c_client(-77);
  BOOST_TEST(unknown.message() == "the server could not do it: error -77, the log of the server may say more");
  for (const int number : {-70'000, -256, 3})
    BOOST_TEST((backend::from_c_client(number) == errc::server_error), number);
  BOOST_TEST(backend::from_c_client(-70'000).message() == make_error_code(errc::server_error).message());
}

BOOST_AUTO_TEST_CASE(a_loss_says_what_is_known) {
  const error_code all[] = {backend::not_sent(), backend::connection_lost(), backend::loss_of(true, true)};
  for (const auto& each : all) {
    BOOST_TEST((each == errc::connection_loss));
    BOOST_TEST(hash_value(each) == hash_value(make_error_code(errc::connection_loss)));
    const bool is_open = each.message().find("may have happened") != std::string::npos;
    BOOST_TEST(is_open == (&each == &all[2]), each.message());
  }
  BOOST_TEST((backend::not_sent() != errc::session_expired));
}

BOOST_AUTO_TEST_CASE(a_bad_argument_can_be_named) {
  const auto one = backend::bad_arguments("the first one"), other = backend::bad_arguments("the other one");
  BOOST_TEST((one == errc::bad_arguments));
  BOOST_TEST((one == other));
  BOOST_TEST(one.message() == "the first one");
  BOOST_TEST(other.message() == "the other one");
  BOOST_TEST(&one.category() == &backend::bad_arguments("the first one").category());
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

// The names of outcomes, on every error code.
namespace {

using codes = std::set<int>;

/// The codes that a predicate is true for.
template <class Predicate>
codes those(Predicate is_it) {
  codes all;
  for (int code = 1; code <= static_cast<int>(errc::declined); ++code) {
    if (is_it(make_error_code(static_cast<errc>(code)))) all.insert(code);
  }
  return all;
}

template <class... Codes>
codes set_of(Codes... each) {
  return {static_cast<int>(each)...};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(outcome_names)

BOOST_AUTO_TEST_CASE(each_name_has_its_codes) {
  BOOST_CHECK(those(is_reply_lost) == set_of(errc::connection_loss));
  BOOST_CHECK(those(is_expired) == set_of(errc::session_expired));
  BOOST_CHECK(those(may_have_happened) == set_of(errc::connection_loss, errc::session_expired));
  BOOST_CHECK(those(is_unanswered) == set_of(errc::connection_loss, errc::session_expired, errc::closed));
  BOOST_CHECK(those(forbids_retry) == set_of(errc::closed, errc::auth_failed));
  BOOST_CHECK(those(is_server_refusal) == set_of(errc::server_error));
  BOOST_CHECK(those(is_write_conflict) == set_of(errc::bad_version, errc::node_exists, errc::no_node));
  BOOST_CHECK(those(leaves_node) == set_of(errc::no_auth, errc::not_empty, errc::server_error));
  BOOST_CHECK(those(is_cancelled).empty());
  auto told = those([](const error_code& error) { return !is_untold(error); });
  BOOST_CHECK(told == set_of(errc::no_node, errc::no_auth));
}

BOOST_AUTO_TEST_CASE(a_cancellation_forbids_another_try_and_success_is_none_of_them) {
  BOOST_TEST(is_cancelled(boost::asio::error::operation_aborted));
  BOOST_TEST(forbids_retry(boost::asio::error::operation_aborted));
  for (auto each : {is_reply_lost, is_expired, may_have_happened, is_unanswered, forbids_retry, is_server_refusal,
                    is_write_conflict, leaves_node, is_untold, is_cancelled}) {
    BOOST_TEST(!each(error_code()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
