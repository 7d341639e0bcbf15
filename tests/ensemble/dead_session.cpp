// A process that dies as leader: its guardian ends its session and says so, and the successor begins long before the
// session's timeout and the hand-over deadline. The process is a context of its own that does not run any more.
#include "guardian/dead_session.hpp"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "election/term_record.hpp"
#include "ensemble/replica.hpp"
#include "ensemble/shard_case.hpp"
#include "session/core.hpp"
#include "session/server_list.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr auto long_deadline = 20s;       // of the hand-over
constexpr auto soon = long_deadline / 2;  // a loaded machine needs a while for anything

/// With a process beside those of the case. Its connection leads through `own`.
template <class Case>
class mortal : public Case {
 public:
  session_options mortal_options() {
    auto with = this->far_options();
    with.timeout = 5s;  // the longest that the ensemble grants
    return with;
  }
  /// Before the fixture looks for what is left.
  void teardown() {
    elsewhere_.reset();
    Case::teardown();
  }
  asio::io_context& elsewhere() { return *elsewhere_; }
  /// Runs both processes until the condition holds.
  void wait_for_both(const std::function<bool()>& condition,
                     std::source_location where = std::source_location::current()) {
    const auto holds = [&] {
      if (elsewhere_->stopped()) elsewhere_->restart();
      elsewhere_->poll();
      return condition();
    };
    BOOST_TEST_REQUIRE(this->run_until(holds), "in vain from line " << where.line());
  }
  /// Nothing of the process runs any more, and its connection has ended.
  detail::dead_session kill(const session& dying) {
    detail::dead_session dead;
    dead.key = dying.get_core()->current()->key;
    dead.servers = detail::parse_hosts(join_hosts(direct_hosts())).servers;
    this->own().refuse(true);
    this->own().cut();
    killed_at_ = clock_type::now();
    return dead;
  }
  /// The session is still there, so nobody has waited for its timeout.
  detail::dead_session_result end(detail::dead_session dead) {
    auto on = detail::make_scheduler("test", this->executor(), &backend::make_real_world);
    std::optional<detail::dead_session_result> result;
    asio::co_spawn(on->strand, detail::end_dead_session(on, std::move(dead), on->now() + 20s),
                   [&](std::exception_ptr failure, detail::dead_session_result all) {
                     BOOST_TEST(!failure);
                     result = all;
                   });
    BOOST_TEST_REQUIRE(this->run_until([&] { return result.has_value(); }));
    BOOST_TEST(!result->error, result->error.message());
    BOOST_TEST(result->is_closed);
    return *result;
  }
  /// The term whose record is at this path, and its seat.
  detail::held_term held(const std::string& path, const std::string& seats) {
    const auto record = detail::parse_record(this->get(path).data);
    BOOST_TEST_REQUIRE(record.has_value());
    const auto seat = record->leader_node.substr(0, record->leader_node.rfind('#'));
    return {this->root() + path, record->leader_node, this->root() + seats + '/' + seat};
  }
  auto since_death() const { return clock_type::now() - killed_at_; }

  // Calls of the dead process end with its context.
  floor_space floor_of_dead;
  shard_floor floors_of_dead;

 private:
  std::unique_ptr<asio::io_context> elsewhere_ = std::make_unique<asio::io_context>();
  clock_type::time_point killed_at_;
};

/// With a leader in the process beside those of the case.
class dead_leaders : public mortal<term_case> {
 public:
  /// The context goes last: terms that the career keeps are of its session.
  void teardown() {
    coordinator_.reset();
    does_.reset();
    dying_.reset();
    mortal::teardown();
  }
  /// Until it executes its first term.
  void start_leader(std::chrono::milliseconds deadline, std::chrono::milliseconds aftermath = 0ms) {
    dying_.emplace(elsewhere().get_executor(), mortal_options());
    does_.emplace(floor_of_dead);
    does_->with.hand_over_deadline = deadline;
    does_->with.aftermath = aftermath;
    coordinator_.emplace(*dying_, "/e", consumer_coordinator_options{.id = "dying"});
    coordinator_->async_run(*does_, [](error_code) {});
    wait_for_both([&] { return does_->has("execute 1") && record_says(R"("phase":"executing")"); });
  }
  replica& add_heir() {
    auto& heir = make(connect(), [](career& next) { next.with.hand_over_deadline = long_deadline; });
    heir.start();
    wait_for_both([&] { return stands_in_line(heir.session_id()); });
    return heir;
  }
  session& dying() { return *dying_; }

 private:
  std::optional<session> dying_;
  std::optional<career> does_;
  std::optional<consumer_coordinator> coordinator_;
};

using dead_owners = mortal<shard_case>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dead_session_of_a_leader, dead_leaders)

BOOST_AUTO_TEST_CASE(the_successor_waits_neither_for_the_session_nor_for_the_deadline) {
  start_leader(long_deadline);
  auto& heir = add_heir();
  const auto term = held("/e", "/e");
  auto dead = kill(dying());
  dead.terms = {term};
  BOOST_TEST(heir.does.log.empty());
  BOOST_TEST(end(std::move(dead)).died == 1u);
  wait_executing(heir, 2);
  BOOST_TEST((since_death() < soon));
  BOOST_TEST((heir.does.terms[0].how() == takeover::died));
  BOOST_TEST(!stands_in_line(dying().status().session_id));
  stop_all();
}

BOOST_AUTO_TEST_CASE(without_terms_the_session_is_over_and_the_deadline_is_waited_out) {
  start_leader(2s);
  auto& heir = add_heir();
  end(kill(dying()));
  wait_executing(heir, 2);
  BOOST_TEST((since_death() >= 2s));
  BOOST_TEST((since_death() < soon));
  BOOST_TEST((heir.does.terms[0].how() == takeover::forced));
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_aftermath_that_the_leader_declared_is_waited_for) {
  start_leader(long_deadline, 1s);
  auto& heir = add_heir();
  const auto term = held("/e", "/e");
  auto dead = kill(dying());
  dead.terms = {term};
  BOOST_TEST(end(std::move(dead)).died == 1u);
  wait([&] { return view().hand_over && view().hand_over->state == "awaiting"; });
  BOOST_TEST((view().phase == term_phase::died));
  BOOST_TEST((view().hand_over->deadline == 1s));
  wait_executing(heir, 2);
  BOOST_TEST((since_death() >= 1s));
  BOOST_TEST((since_death() < soon));
  BOOST_TEST((heir.does.terms[0].how() == takeover::died));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_session_that_is_over_is_said_to_be) {
  auto dying = std::make_unique<session>(elsewhere().get_executor(), mortal_options());
  wait_for_both([&] { return dying->status().state == session_state::connected; });
  auto dead = kill(*dying);
  end(dead);
  dead.terms = {{root() + "/e", "n1", root() + "/e/n1"}};
  auto on = detail::make_scheduler("test", executor(), &backend::make_real_world);
  std::optional<detail::dead_session_result> again;
  asio::co_spawn(on->strand, detail::end_dead_session(on, dead, on->now() + 20s),
                 [&](std::exception_ptr, detail::dead_session_result all) { again = all; });
  wait([&] { return again.has_value(); });
  BOOST_TEST((again->error == errc::session_expired));
  BOOST_TEST(again->is_closed);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_ends_nothing) {
  auto& a = add();
  wait_executing(a, 1);
  detail::dead_session alive;
  alive.key = a.zk.get_core()->current()->key;
  alive.key.password[0] = static_cast<char>(alive.key.password[0] ^ 1);
  alive.servers = detail::parse_hosts(join_hosts(direct_hosts())).servers;
  alive.terms = {held("/e", "/e")};
  auto on = detail::make_scheduler("test", executor(), &backend::make_real_world);
  std::optional<detail::dead_session_result> result;
  asio::co_spawn(on->strand, detail::end_dead_session(on, alive, on->now() + 20s),
                 [&](std::exception_ptr, detail::dead_session_result all) { result = all; });
  wait([&] { return result.has_value(); });
  BOOST_TEST(result->died == 0u);
  BOOST_TEST(record_says(R"("phase":"executing")"), get("/e").data);
  settle(a.zk);
  BOOST_TEST(stands_in_line(a.session_id()));
  BOOST_TEST(!a.does.terms[0].ending());
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(dead_session_of_an_owner, dead_owners)

BOOST_AUTO_TEST_CASE(the_heirs_of_its_shards_begin_at_once) {
  session dying(elsewhere().get_executor(), mortal_options());
  const auto slowly = [](const shard&, career& does) { does.with.hand_over_deadline = long_deadline; };
  auto a = std::make_unique<shard_owner>(dying, floors_of_dead, with("a"));
  a->on_make = slowly;
  a->start();
  wait_for_both([&] { return a->executing.size() == 12; });
  auto& b = make("b");
  b.on_make = slowly;
  b.start();
  wait_for_both([&] { return a->executing.size() == 6 && b.executing.size() == 6; });
  const auto held_by_a = a->executing;
  std::vector<detail::held_term> terms{held("/g/_planner", "/g/_planner")};
  for (auto number : held_by_a) {
    terms.push_back(held("/g/shard/" + shard{number, shards}.name(), "/g/member"));
  }
  auto dead = kill(dying);
  dead.terms = std::move(terms);
  const auto result = end(std::move(dead));
  BOOST_TEST(result.died == 7u);
  wait_shares({{&b, 12}});
  BOOST_TEST((since_death() < soon));
  for (auto number : held_by_a) {
    const auto now = detail::parse_record(record(number));
    BOOST_TEST_REQUIRE(now.has_value());
    BOOST_TEST((now->how == takeover::died), number);
    BOOST_TEST(now->leader_id == "b");
  }
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
