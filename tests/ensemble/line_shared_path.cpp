// Two recipes want the same path: it belongs to the one that was there first.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "ensemble/print.hpp"
#include "ensemble/request_log.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const std::string path = "/p";

class shared_path : public fixture {
 public:
  shared_path() {
    one = std::make_unique<session>(connect());
    other = std::make_unique<session>(connect(log.noted(options())));
  }
  void teardown() {
    one.reset();
    other.reset();
    fixture::teardown();
  }

  using kept = std::shared_ptr<void>;
  /// Gets in line, and keeps what it gets for as long as `kept` lives.
  using entry = std::function<error_code(session&, kept&)>;

  template <class Owned>
  static error_code keep(std::tuple<error_code, Owned> result, kept& where) {
    if (!std::get<0>(result)) where = std::make_shared<Owned>(std::move(std::get<1>(result)));
    return std::get<0>(result);
  }
  std::vector<std::pair<std::string, entry>> lines() {
    return {
        {"lock", [this](auto& zk, auto& k) { return keep(run(lock(zk, path).async_acquire(tuple)), k); }},
        {"election",
         [this](auto& zk, auto& k) { return keep(run(election(zk, path, {"me"}).async_campaign(tuple)), k); }},
        {"reader",
         [this](auto& zk, auto& k) { return keep(run(read_write_lock(zk, path).async_acquire_read(tuple)), k); }},
        {"writer",
         [this](auto& zk, auto& k) { return keep(run(read_write_lock(zk, path).async_acquire_write(tuple)), k); }},
        {"semaphore", [this](auto& zk, auto& k) { return keep(run(semaphore(zk, path, 2).async_acquire(tuple)), k); }},
        {"barrier", [this](auto& zk, auto& k) { return keep(run(double_barrier(zk, path, 1).async_enter(tuple)), k); }},
    };
  }

  /// Whether the second recipe may get in line behind the first one at one path.
  static bool get_on(const std::string& first, const std::string& second) {
    auto is_read_write = [](const std::string& which) { return which == "reader" || which == "writer"; };
    return first == second || (is_read_write(first) && is_read_write(second)) ||
           (first == "lock" && second == "election");  // as Curator's LeaderSelector stands in a mutex's line
  }

  void is_left(std::size_t count) {
    BOOST_TEST(run_until([&] { return children(path).size() == count; }), count << " should be left");
  }
  /// Removes the path for the next pair, because semaphores and barriers leave their data there.
  void wipe() {
    is_left(0);
    remove(path);
  }

  request_log log;
  std::unique_ptr<session> one, other;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(line_shared_paths, shared_path)

BOOST_AUTO_TEST_CASE(who_comes_second_with_another_recipe_is_refused) {
  for (const auto& [first, enter_first] : lines()) {
    for (const auto& [second, enter_second] : lines()) {
      if (get_on(first, second)) continue;
      BOOST_TEST_CONTEXT("a " << second << " where there is a " << first) {
        kept holds, refused;
        BOOST_TEST_REQUIRE(!enter_first(*one, holds));
        log.clear();
        BOOST_TEST(enter_second(*other, refused) == errc::foreign_data);
        is_left(1);
        BOOST_TEST(log.count("create") == 1);
        BOOST_TEST(log.count("children") == 1, "no further round trip");
        holds.reset();
        wipe();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_election_stands_in_the_line_of_a_lock) {
  kept holds;
  BOOST_TEST_REQUIRE(!keep(run(lock(*one, path).async_acquire(tuple)), holds));
  auto campaign = recorder<ownership>(executor());
  election(*other, path, {"me"}).async_campaign(campaign.token());
  is_left(2);
  BOOST_TEST(std::get<0>(run(lock(*one, path).async_acquire(tuple))) == errc::foreign_data, "it could not see it");
  holds.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return campaign.done(); }));
  BOOST_TEST(!campaign.error());
  campaign.result<0>() = ownership();
  wipe();
}

BOOST_AUTO_TEST_CASE(who_was_in_line_is_not_disturbed) {
  kept holds, refused;
  BOOST_TEST_REQUIRE(!keep(run(lock(*one, path).async_acquire(tuple)), holds));
  auto waiting = recorder<ownership>(executor());
  lock(*one, path).async_acquire(waiting.token());
  is_left(2);
  BOOST_TEST(keep(run(read_write_lock(*other, path).async_acquire_read(tuple)), refused) == errc::foreign_data);
  is_left(2);
  holds.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error());
  waiting.result<0>() = ownership();
  wipe();
}

BOOST_AUTO_TEST_CASE(a_try_is_refused_as_well_and_writes_nothing_down) {
  kept holds;
  BOOST_TEST_REQUIRE(!keep(run(lock(*one, path).async_acquire(tuple)), holds));
  catch_up(*other);  // a try looks first, and its server may lag behind
  semaphore two(*other, path, 2);
  const diagnostic why;
  BOOST_TEST(std::get<0>(run(two.async_try_acquire(1, why, tuple))) == errc::foreign_data);
  BOOST_TEST(why.text().find(path) != std::string::npos, why.text());
  BOOST_TEST(log.count("create") == 0);
  BOOST_TEST(get(path).data == "");
  holds.reset();
  is_left(0);
  BOOST_TEST_REQUIRE(!keep(run(election(*one, path, {"me"}).async_campaign(tuple)), holds));
  catch_up(*other);
  BOOST_TEST(std::get<0>(run(lock(*other, path).async_try_acquire(tuple))) == errc::foreign_data);
  is_left(1);
  holds.reset();
  wipe();
}

BOOST_AUTO_TEST_CASE(a_barrier_says_what_is_wrong) {
  kept holds;
  BOOST_TEST_REQUIRE(!keep(run(lock(*one, path).async_acquire(tuple)), holds));
  double_barrier barrier(*other, path, 2);
  const diagnostic why;
  BOOST_TEST(std::get<0>(run(barrier.async_enter(why, tuple))) == errc::foreign_data);
  BOOST_TEST(why.text().find(path) != std::string::npos, why.text());
  holds.reset();
  wipe();
}

// Both lines are entered over one session at the same moment, and each reads a list of its own.
BOOST_AUTO_TEST_CASE(of_two_at_the_same_moment_one_gets_in) {
  auto first = recorder<ownership>(executor());
  auto second = recorder<ownership>(executor());
  create(path);
  lock(*one, path).async_acquire(first.token());
  read_write_lock(*one, path).async_acquire_write(second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  BOOST_TEST(!first.error());
  BOOST_TEST(second.error() == errc::foreign_data);
  is_left(1);
  first.result<0>() = ownership();
  wipe();
}

BOOST_AUTO_TEST_CASE(names_of_curator_and_kazoo_are_recognised) {
  for (auto name : {"/_c_3a0f-__READ__", "/_c_3a0f-__WRIT__", "/1f0c__rlock__", "/_c_3a0f-latch-"}) {
    create(path);
    auto theirs = must(run(zk().async_create(path + name, "", create_mode::ephemeral_sequential, tuple)));
    BOOST_TEST(std::get<0>(run(lock(*other, path).async_acquire(tuple))) == errc::foreign_data, name);
    is_left(1);
    remove(theirs.path);
    wipe();
  }
}

BOOST_AUTO_TEST_CASE(a_lock_on_a_queue_is_refused_whatever_the_queue) {
  auto is_refused = [&](const std::string& item) {
    kept refused;
    BOOST_TEST(keep(run(lock(*other, path).async_acquire(tuple)), refused) == errc::foreign_data, item);
    is_left(1);
    remove(path + '/' + item);
    wipe();
  };
  is_refused(std::get<1>(run(queue(*one, path).async_put("", tuple))));
  is_refused(std::get<1>(run(priority_queue(*one, path).async_put("", 7, tuple))));
  is_refused(std::get<1>(run(delay_queue(*one, path).async_put_at("", std::chrono::system_clock::now() + 1h, tuple))));
}

BOOST_AUTO_TEST_CASE(a_take_from_a_lock_is_refused_unless_there_is_something_to_take) {
  kept holds;
  BOOST_TEST_REQUIRE(!keep(run(lock(*one, path).async_acquire(tuple)), holds));
  catch_up(*other);
  queue mistaken(*other, path);
  BOOST_TEST(std::get<0>(run(mistaken.async_take(tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(mistaken.async_pop(tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(mistaken.async_next(tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(priority_queue(*other, path).async_take(tuple))) == errc::foreign_data);
  is_left(1);
  BOOST_TEST(!std::get<0>(run(mistaken.async_put("1", tuple))));
  auto popped = run(mistaken.async_pop(tuple));
  BOOST_TEST(std::get<1>(popped).data == "1");
  holds.reset();
  wipe();
}

BOOST_AUTO_TEST_SUITE_END()
