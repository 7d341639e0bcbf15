// The names of outcomes, on every error code.
#include "session/outcomes.hpp"

#include <set>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;

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
