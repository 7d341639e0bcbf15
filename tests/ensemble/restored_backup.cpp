// An ensemble that is set back to a backup of its data: the folder as an operator copies it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>

#include <testcluster/ensemble.hpp>

#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace fs = std::filesystem;

namespace {

/// One server, which is stopped, copied and put back, and two processes with a session each that outlives that.
struct restored_case {
  restored_case() {
    for (auto* each : {&one, &two}) *each = std::make_unique<session>(io, options());
    for (auto* each : {&one, &two})
      run([](session zk) -> asio::awaitable<error_code> {
        auto [error] = co_await zk.async_connected(tuple);
        co_return error;
      }(**each));
  }
  ~restored_case() {
    for (auto* each : {&one, &two})
      run([](session zk) -> asio::awaitable<error_code> {
        auto [error] = co_await zk.async_close(tuple);
        co_return error;
      }(**each));
  }

  session_options options() {
    session_options with;
    with.hosts = servers.hosts();
    with.timeout = 30s;
    with.log = [this](const log_event& event) { told += event.event == session_event::set_back; };
    return with;
  }
  template <class T>
  T run(asio::awaitable<T> body) {
    return run_coroutine(io, std::move(body));
  }
  bool run_until(const std::function<bool()>& condition) { return test::run_until(io, condition); }

  fs::path data() const { return servers.dir() / "server.1" / "data"; }
  fs::path backup() const { return servers.dir() / "backup"; }
  void back_up() {
    servers.kill(1);
    fs::copy(data(), backup(), fs::copy_options::recursive);
    servers.start(1);
  }
  void restore() {
    servers.kill(1);
    fs::remove_all(data());
    fs::copy(backup(), data(), fs::copy_options::recursive);
    fs::remove_all(backup());
    servers.start(1);
  }

  ownership acquire(lock& which) {
    auto [error, held] = run(which.async_acquire(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return std::move(held);
  }
  std::int32_t version_of(session& zk) {
    auto [error, there] = run(zk.async_get("/counted", tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return there.stat.version;
  }

  asio::io_context io;
  testcluster::ensemble servers{{.servers = 1, .max_session_timeout = 60s}};
  std::unique_ptr<session> one, two;
  int told = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(restored_backup, restored_case)

// Before the backup one holds the lock and leads, afterwards the other; so the backup has nodes that were left.
BOOST_AUTO_TEST_CASE(no_line_waits_for_what_was_left_and_no_session_takes_the_past_for_the_present) {
  lock first(*one, "/lock"), second(*two, "/lock");
  election vote(*one, "/vote", {"one"}), rival(*two, "/vote", {"two"});
  run(one->async_create("/counted", "", create_mode::persistent, tuple));
  {
    auto held = acquire(first);
    auto [error, leads] = run(vote.async_campaign(tuple));
    BOOST_TEST_REQUIRE(!error);
    back_up();
    run(held.async_release(tuple));
    run(leads.async_release(tuple));
  }
  for (int i = 0; i < 5; ++i) run(two->async_set("/counted", "", any_version, tuple));
  auto kept = acquire(second);
  BOOST_TEST(version_of(*one) == 5);
  const auto before = one->status().session_id;
  restore();
  BOOST_TEST(run_until([&] { return kept.error() && told == 2; }), "what is owned is lost, and that is told");
  BOOST_TEST(version_of(*one) == 0);
  BOOST_TEST(one->status().session_id != before, "an older state only in another session");
  for (int i = 0; i < 2; ++i) {
    auto held = acquire(i == 0 ? second : first);
    auto [error, leads] = run((i == 0 ? vote : rival).async_campaign(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    run(leads.async_release(tuple));
    run(held.async_release(tuple));
  }
}

BOOST_AUTO_TEST_SUITE_END()
