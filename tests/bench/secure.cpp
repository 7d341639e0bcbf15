// Creates over TLS, beside the same session without TLS on the same server. Measured in turns.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio.hpp>

#include <zkrecipes/session.hpp>

#include <testcluster/ensemble.hpp>

#include "parts.hpp"
#include "rounds.hpp"
#include "support/coroutine.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

constexpr int creates_of_a_round = 1'000;
constexpr int creates_at_once = 64;

testcluster::ensemble_options secure_ensemble() {
  testcluster::ensemble_options options;
  options.tls = true;
  return options;
}

zkrecipes::session_options secure_options(testcluster::ensemble& cluster) {
  const auto& own = cluster.client_certificate();
  zkrecipes::session_options options;
  options.hosts = cluster.nodes().front().secure;
  options.tls = zkrecipes::tls_options{.authorities = cluster.authority().certificate().string(),
                                       .certificate = own.certificate.string(),
                                       .key = own.key.string()};
  return options;
}

zkrecipes::session_options plain_options(testcluster::ensemble& cluster) {
  zkrecipes::session_options options;
  options.hosts = cluster.nodes().front().address;
  return options;
}

asio::awaitable<bool> create_some(zkrecipes::session& zk, int count) {
  for (int i = 0; i < count; ++i) {
    co_await zk.async_create("/n-", "", zkrecipes::create_mode::ephemeral_sequential, use_awaitable);
  }
  co_return true;
}

/// Creates a second of one session, with so many at a time.
std::optional<double> creates_per_second(const zkrecipes::session_options& options, int at_once) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), options);
  zkrecipes::test::run_coroutine(io, create_some(zk, creates_of_a_round / 10));
  const auto begin = std::chrono::steady_clock::now();
  int open = at_once;
  for (int i = 0; i < at_once; ++i) {
    asio::co_spawn(io, create_some(zk, creates_of_a_round / at_once), [&open](std::exception_ptr, bool) { --open; });
  }
  zkrecipes::test::run_until(io, [&open] { return open == 0; });
  const auto took = std::chrono::steady_clock::now() - begin;
  zkrecipes::test::run_coroutine(io, zk.async_close(zkrecipes::test::tuple));
  return creates_of_a_round / at_once * at_once / std::chrono::duration<double>(took).count();
}

}  // namespace

std::vector<row> secure(const plan& what) {
  testcluster::ensemble cluster(secure_ensemble());
  const auto by_tls = secure_options(cluster);
  const auto plain = plain_options(cluster);
  const auto line = [&](const std::string& name, int at_once) {
    return measure_in_turns(name, per_second,
                            {{&row::ours, [&](const std::string&) { return creates_per_second(by_tls, at_once); }},
                             {&row::bare, [&](const std::string&) { return creates_per_second(plain, at_once); }}},
                            what.rounds);
  };
  return {line("create by TLS, one after the other, beside plain text", 1),
          line("create by TLS, 64 at once, beside plain text", creates_at_once)};
}

}  // namespace bench
