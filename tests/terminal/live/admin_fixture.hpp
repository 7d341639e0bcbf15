// A fixture with zkadmin and some replicas on the shared ensemble.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/lock.hpp>

#include <testcluster/op_code.hpp>

#include "base/failure.hpp"
#include "change/intervention.hpp"
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

  /// The next inauguration lasts until the hold is opened.
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

// A fixture with holders and waiters of lines, for `zkadmin revoke` and `zkadmin evict`.

class line_fixture : public admin_fixture {
 public:
  using words = std::vector<std::string>;

  words about(const char* command, const std::string& path, words more) const {
    more.insert(more.begin(), {command, root() + path});
    return more;
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  program_result revoke(const std::string& path, words more, const output_hook& told = {}) {
    return zkadmin(about("revoke", path, std::move(more)), {}, told);
  }
  program_result evict(const std::string& path, words more) { return zkadmin(about("evict", path, std::move(more))); }

  /// A node of another program in line; it belongs to no session.
  std::string put(const std::string& path, const std::string& name, const std::string& data = {}) {
    if (!contains(path)) create(path);
    create(path + "/" + name, data);
    return name;
  }
  void clear(const std::string& path) {
    const auto removed = run(zk().async_remove_with_children(path, zkrecipes::test::tuple));
    BOOST_TEST(!std::get<0>(removed), std::get<0>(removed).message());
  }

  /// The name of the node with this id.
  std::string node_of(const std::string& path, const std::string& id) {
    for (const auto& each : children(path)) {
      const auto data = get(path + "/" + each).data;
      if (data == id || data.find("\"id\":\"" + id + "\"") != std::string::npos) return each;
    }
    return {};
  }

  zkrecipes::ownership hold(const std::string& path, const std::string& id) {
    zkrecipes::lock line(zk(), path, {.id = id});
    auto held = run(line.async_acquire(zkrecipes::test::tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(held), std::get<0>(held).message());
    return std::move(std::get<1>(held));
  }
  /// Gets in line behind the others.
  zkrecipes::test::recorder<zkrecipes::ownership> wait_in_line(const std::string& path, const std::string& id) {
    const auto before = children(path).size();
    zkrecipes::test::recorder<zkrecipes::ownership> waiting(executor());
    zkrecipes::lock(zk(), path, {.id = id}).async_acquire(waiting.token());
    BOOST_TEST_REQUIRE(run_until([&] { return children(path).size() > before; }));
    return waiting;
  }

  static boost::asio::awaitable<bool> is_sent(zkrecipes::session over, zkadmin::intervention change) {
    co_await zkadmin::send(std::move(over), std::move(change));
    co_return true;
  }
  /// The message of the failure with which sending ends; empty: it was sent.
  std::string failure_of(zkadmin::intervention change) {
    try {
      run(is_sent(zk(), std::move(change)));
    } catch (const zkadmin::failure& error) {
      return error.what();
    }
    return {};
  }
};

// A fixture that asks `zkadmin recipes`, and removes what a case has made.

class recipe_fixture : public admin_fixture {
 public:
  void teardown();

  /// This path is removed at the end, with all below it.
  void removes(const std::string& path) { made_.push_back(path); }

  /// The recipes that are listed, of one kind if it is not empty. The case fails if the exit code is not `code`.
  boost::json::value list(const std::string& kind = "", std::vector<std::string> more = {}, int code = 0);

  /// The recipe at this path below our root. The case fails if it is not listed.
  boost::json::object recipe_at(const std::string& path, std::vector<std::string> more = {}, int code = 0);

  /// "holder a, waiter b".
  static std::string roles_of(const boost::json::object& recipe);

  /// As zkadmin prints it.
  static std::string session_text(const zkrecipes::session& of);

 private:
  std::vector<std::string> made_;
};

// A fixture that asks `zkadmin streams`.

class stream_fixture : public recipe_fixture {
 public:
  std::string at(const std::string& path) const { return root() + path; }

  /// What `streams -o json` prints of the source at this path below our root.
  boost::json::object stream_at(const std::string& path, std::vector<std::string> more = {}, int code = 0) {
    std::vector<std::string> words{"streams", at(path), "-o", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = zkadmin(std::move(words));
    BOOST_TEST(result.code == code, result.err);
    const auto document = boost::json::parse(result.out);
    BOOST_TEST_REQUIRE(document.at("streams").as_array().size() == 1u);
    return document.at("streams").at(0).as_object();
  }
  program_result check(const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"check", "--only", at(path)};
    words.insert(words.end(), more.begin(), more.end());
    return zkadmin(std::move(words));
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
};
