// A fixture with zkadmin and some replicas on the shared ensemble.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/hold_point.hpp"
#include "live/running_program.hpp"
#include "support/fixture.hpp"

// A replica that campaigns, leads until it is asked to give up, and hands over when the test lets it.

class worker final : public zkrecipes::leader_career {
 public:
  worker(zkrecipes::test::fixture& of, const std::string& path, const std::string& id, zkrecipes::session over,
         std::chrono::milliseconds deadline = std::chrono::seconds(20))
      : deadline_(deadline),
        session_(std::move(over)),
        coordinator_(session_, path, {.id = id, .rest = std::chrono::milliseconds(0)}),
        end_(of.executor()) {
    coordinator_.async_run(*this, end_.token());
  }

  zkrecipes::career_traits traits() const override {
    zkrecipes::career_traits declared;
    declared.hand_over_deadline = deadline_;
    return declared;
  }

  boost::asio::awaitable<void> inaugurate(zkrecipes::term) override {
    if (held_inauguration_) co_await held_inauguration_->pass();
  }

  boost::asio::awaitable<void> execute(zkrecipes::term present) override {
    leads = true;
    co_await present.async_ending(boost::asio::as_tuple(boost::asio::use_awaitable));
  }

  boost::asio::awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override {
    leads = false;
    if (held_back_) co_await held_back_->pass();
  }

  /// The next hand-over lasts until the hold is opened.
  zkrecipes::test::hold_point& hold_back() { return held_back_.emplace(session_.get_executor()); }

  /// The same of the next inauguration.
  zkrecipes::test::hold_point& hold_inauguration() { return held_inauguration_.emplace(session_.get_executor()); }

  void stop() { coordinator_.stop(); }
  bool has_ended() const { return end_.done(); }

  bool leads = false;

 private:
  std::chrono::milliseconds deadline_;
  zkrecipes::session session_;
  zkrecipes::consumer_coordinator coordinator_;
  std::optional<zkrecipes::test::hold_point> held_back_;
  std::optional<zkrecipes::test::hold_point> held_inauguration_;
  zkrecipes::test::recorder<> end_;
};

/// Kills servers for a while. The destructor starts them again, however the case ends.
class outage {
 public:
  explicit outage(std::vector<int> servers);
  /// The leader and one more server, to kill so that the quorum is lost. First waits until all three servers have the
  /// same zxid: if the server that is left had logged a transaction that the others have not, ZooKeeper 3.8.0 would not
  /// always recover (ZOOKEEPER-4685).
  static std::vector<int> quorum();
  ~outage();
  outage(const outage&) = delete;

  void end();

 private:
  std::vector<int> servers_;
};

/// `election` is an object from the JSON of `zkadmin status`.
inline bool is_executing(const boost::json::object& election) { return election.at("phase") == "executing"; }

class admin_fixture : public zkrecipes::test::ensemble_case {
 public:
  admin_fixture() : hosts(zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts())) {}

  void teardown();

  program_result zkadmin(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {},
                         const output_hook& told = {});

  /// The JSON that `status -o json` prints about our root. The case fails if the exit code is not `code`.
  boost::json::value status(int code = 0);

  /// Adds a worker at the end of the line.
  worker& join(const std::string& path, const std::string& id, zkrecipes::session over,
               std::chrono::milliseconds deadline = std::chrono::seconds(20));
  worker& join(const std::string& path, const std::string& id) { return join(path, id, connect()); }

  bool contains(const std::string& path);

  /// The election at `path` below our root, once the condition holds for it.
  boost::json::object election(const std::string& path,
                               const std::function<bool(const boost::json::object&)>& condition);

  std::string hosts;

 private:
  std::deque<worker> workers_;
};
