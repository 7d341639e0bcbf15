#include "tls/tls_case.hpp"

#include <algorithm>

#include <boost/test/unit_test.hpp>

namespace zkrecipes::test {

testcluster::certificate_files tls_case::server_certificate() {
  return authority.issue({.name = "server", .hosts = {"127.0.0.1", "localhost"}});
}

session_options tls_case::options_for(const std::string& address) const {
  session_options options;
  options.hosts = address;
  options.tls = tls_options{.authorities = authority.certificate().string()};
  options.log = [into = told](const log_event& each) {
    into->push_back({each.event, each.severity, each.error, to_string(each)});
  };
  return options;
}

connection_failure tls_case::failure_of(const session_options& options) {
  session zk(io.get_executor(), options);
  const bool has_failed = run_until(
      io, [&] { return !zk.status().failures.empty(); }, 2s);
  BOOST_TEST_REQUIRE(has_failed);
  return zk.status().failures.front();
}

void tls_case::check_refusal(const session_options& options, tls_errc expected) {
  const auto failure = failure_of(options);
  BOOST_TEST((failure.reason == failure_reason::tls), to_string(failure.reason));
  BOOST_TEST(failure.error == make_error_code(expected), failure.error.message());
  const auto found = std::ranges::find(*told, session_event::connect_failed, &told_event::event);
  BOOST_TEST_REQUIRE((found != told->end()));
  BOOST_TEST(found->error == make_error_code(expected), found->line);
}

std::size_t tls_case::count(session_event which) const {
  return static_cast<std::size_t>(std::ranges::count(*told, which, &told_event::event));
}

}  // namespace zkrecipes::test
