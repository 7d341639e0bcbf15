// A fixture with a place that is followed by watches.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "cluster/live_place.hpp"
#include "live/admin_fixture.hpp"

struct place_fixture : admin_fixture {
  place_fixture() : own(connect()) {}
  void teardown() {
    own = {};
    admin_fixture::teardown();
  }

  zkadmin::live_place make() {
    return {own,
            {.interval = std::chrono::milliseconds(100)},
            {[this] { ++changes; }, [this](const auto&, const auto&) { ++losses; }}};
  }

  void search(zkadmin::live_place& at) { run_coroutine(at.search(zkadmin::deadline::max())); }
  zkadmin::election_survey look(zkadmin::live_place& at) {
    if (at.is_search_due()) search(at);
    return run_coroutine(at.elections(zkadmin::deadline::max()));
  }

  template <class Result>
  Result run_coroutine(boost::asio::awaitable<Result> work) {
    auto future = boost::asio::co_spawn(io(), std::move(work), boost::asio::use_future);
    BOOST_TEST_REQUIRE(
        run_until([&] { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return future.get();
  }

  /// Refreshes until the condition holds for the elections.
  zkadmin::election_survey await(zkadmin::live_place& at,
                                 const std::function<bool(const zkadmin::election_survey&)>& is_reached) {
    zkadmin::election_survey seen;
    BOOST_TEST_REQUIRE(run_until([&] { return is_reached(seen = look(at)); }));
    return seen;
  }

  static std::set<std::string> paths(const zkadmin::election_survey& all) {
    std::set<std::string> result;
    for (const auto& each : all.found) result.insert(each.path);
    return result;
  }

  zkrecipes::session own;
  int changes = 0;
  int losses = 0;
};

/// Whether this candidate is the leader of this election, and at work.
inline bool leads(const zkadmin::election_survey& all, const std::string& path, const std::string& id) {
  return std::ranges::any_of(all.found, [&](const auto& each) {
    return each.path == path && each.phase == "executing" && each.leader && each.leader->id == id;
  });
}
