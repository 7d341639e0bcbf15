// Spooled producers whose target does not tell what was put: what may have been put is put again, and dropped behind
// it.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include "spool/simulated_queue.hpp"
#include "spool/spooling.hpp"

namespace zkrecipes::test {

// Lives of a process with random faults and ends, and a disk that takes its time.

/// One history, all of which follows from the seed. Derived classes have the target.
class random_history {
 public:
  virtual ~random_history() = default;

  void run() {
    const int lives = 2 + static_cast<int>(below(more_lives_));
    for (int i = 0; i < lives; ++i) live(i + 1 == lives);
    judge_.judge(arrived(), false);
  }

 protected:
  /// There are two lives, and fewer than `more_lives` more.
  random_history(unsigned seed, std::size_t more_lives) : random_(seed), more_lives_(more_lives) {
    options_.count = 1 + below(5);
    options_.durability = below(2) ? spool_durability::power : spool_durability::process;
    options_.most_memory = below(2) ? 600 : 16'000;
    options_.most_messages = below(2) ? 5 : 1'000;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }
  const spool_options& options() const { return options_; }
  spool_judge& judge() { return judge_; }

 private:
  virtual std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) = 0;
  /// Whether the target is out of reach.
  virtual bool& is_away() = 0;
  /// What has come to the target, in order.
  virtual const std::vector<std::string>& arrived() = 0;
  /// What the target can do by itself, if anything.
  virtual std::function<void()> act_of_target() { return {}; }
  /// The process is gone; the power may fail.
  virtual void end_life() = 0;

  void live(bool is_last) {
    step_plan plan;
    const auto fault = static_cast<put_fault>(below(5));
    plan.fault_at = static_cast<int>(below(40));
    if (!is_last) plan.crash_at = static_cast<int>(below(60));
    is_away() = below(3) == 0;
    {
      const auto life = make_life(plan, fault);
      for (int i = 0; i < 30 && !life->plan().is_crashed; ++i) act(*life);
      if (is_last) finish(*life);
      judge_.record_life(*life);
    }
    end_life();
  }
  void finish(spooling_process& life) {
    is_away() = false;
    life.disk().release();
    auto flushed = life.flush(10min);
    for (int i = 0; i < 10; ++i) life.recover();
    BOOST_TEST_REQUIRE(flushed.done());
    BOOST_TEST(life.status().lag == 0u);
    BOOST_TEST(life.status().memory == 0u);
  }
  void act(spooling_process& life) {
    const auto of_target = act_of_target();
    const auto which = below(of_target ? 9 : 8);
    switch (which) {
      case 0: is_away() = !is_away(); break;
      case 1: life.pass(std::chrono::milliseconds(below(10))); break;
      case 2: life.pass(std::chrono::milliseconds(below(5'000))); break;
      case 3: life.disk().hold(); break;
      case 4: life.disk().release(); break;
      case 5: life.put_through(std::to_string(++last_)); break;
      default:
        if (which == 6 && of_target) {
          of_target();
        } else {
          for (auto i = 1 + below(4); i > 0; --i) life.put(std::to_string(++last_));
        }
    }
    if (below(2)) life.settle();
  }

  std::mt19937 random_;
  std::size_t more_lives_;
  spool_options options_ = small_spool();
  spool_judge judge_;
  int last_ = 0;
};

// A target that does not tell what was put, and a consumer behind it that drops repeats.

/// What the consumer has seen. Two messages of one origin and number are one to it, whatever they say.
struct received_items {
  std::vector<std::string> all;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known;
  std::vector<detail::spool_row> late;  ///< On their way.
  std::set<std::uint64_t> repeated;     ///< The origins of messages that came again.
  std::size_t repeats = 0;
  std::string refused;  ///< This message can not be put.
  bool is_away = false;

  void take(const detail::spool_row& what) {
    const auto [at, is_new] = known.try_emplace({what.origin, what.number}, what.data);
    if (is_new) return all.push_back(what.data);
    ++repeats;
    repeated.insert(what.origin);
    BOOST_TEST(at->second == what.data, what.data << " is lost: it is taken for " << at->second);
  }
  void bring_late() {
    for (const auto& each : std::exchange(late, {})) take(each);
  }
};

class simulated_receiver : public detail::spool_target {
 public:
  simulated_receiver(boost::asio::any_io_executor strand, std::shared_ptr<received_items> items,
                     std::shared_ptr<step_plan> plan, put_fault fault)
      : strand_(std::move(strand)), items_(std::move(items)), plan_(std::move(plan)), fault_(fault) {}

  const std::string& path() const noexcept override { return path_; }
  error_code check(const detail::spool_row&) const override { return {}; }
  std::size_t most_messages() const noexcept override { return 3; }
  std::size_t most_bytes() const noexcept override { return 10'000; }
  detail::spool_outage outage() const override { return {}; }
  bool knows_last() const noexcept override { return false; }
  void last(handler done) override {
    BOOST_ERROR("it can not be asked");
    answer(std::move(done), errc::bad_arguments, 0);
  }
  void cancel() override {}

  void put(std::vector<detail::spool_row> what, handler done) override {
    if (!plan_->goes_on()) return;
    check_order(what);
    if (items_->is_away) return answer(std::move(done), errc::connection_loss, 0);
    if (plan_->fails()) return fail(std::move(what), std::move(done));
    std::uint64_t count = 0;
    for (const auto& each : what) {
      if (each.data == items_->refused) return answer(std::move(done), errc::no_auth, count);
      items_->take(each);
      ++count;
    }
    if (plan_->goes_on()) answer(std::move(done), {}, count);
    ++plan_->step;
  }

 private:
  static void check_order(const std::vector<detail::spool_row>& all) {
    BOOST_TEST_REQUIRE(!all.empty());
    BOOST_TEST(all.front().origin != 0u);
    for (std::size_t i = 1; i < all.size(); ++i) {
      BOOST_TEST(all[i].number == all[0].number + i);
      BOOST_TEST(all[i].origin == all[0].origin);
    }
  }
  void fail(std::vector<detail::spool_row> all, handler done) {
    if (fault_ == put_fault::refused) return answer(std::move(done), errc::full, 0);
    if (fault_ == put_fault::half_done) all.resize((all.size() + 1) / 2);
    if (fault_ == put_fault::late) {
      items_->late = std::move(all);
    } else if (fault_ != put_fault::not_done) {
      for (const auto& each : all) items_->take(each);
    }
    answer(std::move(done), errc::connection_loss, 0);
  }
  void answer(handler done, error_code error, std::uint64_t number) {
    boost::asio::post(strand_, [done = std::move(done), error, number] { done(error, number); });
  }

  std::string path_ = "/r";
  boost::asio::any_io_executor strand_;
  std::shared_ptr<received_items> items_;
  std::shared_ptr<step_plan> plan_;
  put_fault fault_;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// What outlives a process.
struct receiver_remains : spool_remains {
  std::shared_ptr<received_items> received = std::make_shared<received_items>();

  receiver_remains() { file->has_origins = true; }
};

std::unique_ptr<spooling_process> begin_life(receiver_remains& remains, step_plan plan = {},
                                             put_fault fault = put_fault::refused,
                                             spool_options options = small_spool()) {
  const auto make = [received = remains.received, fault](boost::asio::any_io_executor strand,
                                                         spooling_process::plan_ptr steps) {
    return std::make_unique<simulated_receiver>(std::move(strand), received, std::move(steps), fault);
  };
  return std::make_unique<spooling_process>(remains, make, options, plan);
}

void put_range(spooling_process& by, int from, int to) {
  for (int i = from; i <= to; ++i) by.put(std::to_string(i));
}

std::vector<std::string> texts_of(int from, int to) {
  std::vector<std::string> all;
  for (int i = from; i <= to; ++i) all.push_back(std::to_string(i));
  return all;
}

void expect_received(const receiver_remains& remains, int last) {
  BOOST_TEST(remains.received->all == texts_of(1, last), boost::test_tools::per_element());
}

class receiver_history final : public random_history {
 public:
  explicit receiver_history(unsigned seed) : random_history(seed, 4) {}

 private:
  std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) override {
    return begin_life(remains_, plan, fault, options());
  }
  bool& is_away() override { return remains_.received->is_away; }
  const std::vector<std::string>& arrived() override { return remains_.received->all; }
  std::function<void()> act_of_target() override {
    return [this] { remains_.received->bring_late(); };
  }
  void end_life() override {
    if (below(2) == 0) return;
    if (options().durability != spool_durability::power) {
      judge().forgive();
      // What the file may have lost, and was sent, is not sent again in its place: it must not come later.
      remains_.received->bring_late();
    }
    remains_.file->lose_power();
  }

  receiver_remains remains_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_repeats)

BOOST_AUTO_TEST_CASE(an_end_at_any_step_loses_nothing_and_has_nothing_taken_twice) {
  std::size_t repeats = 0;
  for (int step = 0; step <= 40; ++step) {
    BOOST_TEST_CONTEXT("end at step " << step) {
      receiver_remains remains;
      spool_judge judge;
      {
        const auto life = begin_life(remains, {.crash_at = step});
        put_range(*life, 1, 10);
        life->recover();
        judge.record_life(*life);
      }
      const auto next = begin_life(remains);
      put_range(*next, 11, 15);
      next->recover();
      BOOST_TEST(next->status().lag == 0u);
      judge.record_life(*next);
      judge.judge(remains.received->all, false);
      repeats += remains.received->repeats;
    }
  }
  BOOST_TEST(repeats > 0u);
}

BOOST_AUTO_TEST_CASE(a_put_that_fails_in_any_way_loses_nothing_and_has_nothing_taken_twice) {
  for (const auto fault :
       {put_fault::refused, put_fault::not_done, put_fault::done, put_fault::half_done, put_fault::late}) {
    for (int step = 0; step <= 30; ++step) {
      receiver_remains remains;
      const auto life = begin_life(remains, {.fault_at = step}, fault);
      auto& last = life->put_through("1");
      put_range(*life, 2, 12);
      life->recover();
      remains.received->bring_late();
      spool_judge judge;
      judge.record_life(*life);
      judge.judge(remains.received->all, false);
      BOOST_TEST(last.done());
      BOOST_TEST(life->status().lag == 0u);
    }
  }
}

// The queue has messages that the file has lost. Others get their numbers.
BOOST_AUTO_TEST_CASE(a_power_failure_that_takes_the_end_of_the_file_makes_no_message_look_like_a_repeat) {
  auto options = small_spool();
  options.durability = spool_durability::process;
  receiver_remains remains;
  {
    const auto life = begin_life(remains, {}, put_fault::refused, options);
    life->settle();
    put_range(*life, 1, 8);
    life->recover();
    expect_received(remains, 8);
  }
  remains.file->lose_power();
  BOOST_TEST_REQUIRE(remains.file->seen.extent.last == 0u);
  const auto next = begin_life(remains, {}, put_fault::refused, options);
  put_range(*next, 9, 20);
  next->recover();
  expect_received(remains, 20);
}

BOOST_AUTO_TEST_CASE(copies_of_a_file_that_are_used_in_turn_lose_nothing) {
  receiver_remains remains;
  remains.received->is_away = true;
  {
    const auto life = begin_life(remains);
    put_range(*life, 1, 5);
    life->recover();
  }
  receiver_remains copy;
  *copy.file = *remains.file;
  copy.received = remains.received;
  remains.received->is_away = false;
  {
    const auto life = begin_life(remains);
    put_range(*life, 6, 8);
    life->recover();
  }
  copy.file->origins = 100;  // they are random
  {
    const auto life = begin_life(copy);
    put_range(*life, 9, 11);
    life->recover();
  }
  const auto life = begin_life(remains);
  put_range(*life, 12, 14);
  life->recover();
  expect_received(remains, 14);
}

BOOST_AUTO_TEST_CASE(what_is_put_again_after_a_restart_has_one_origin) {
  receiver_remains remains;
  remains.received->is_away = true;
  for (int i = 0; i < 5; ++i) {
    const auto life = begin_life(remains);
    put_range(*life, 4 * i + 1, 4 * i + 4);
    life->recover();
  }
  BOOST_TEST_REQUIRE(remains.file->seen.rows.size() == 20u);
  remains.received->is_away = false;
  auto options = small_spool();
  options.count = 1'000;  // nothing is removed before so many were put
  for (int step = 0; step < 40; ++step) {
    remains.received->repeated.clear();
    const auto life = begin_life(remains, {.crash_at = step}, put_fault::refused, options);
    life->recover();
    BOOST_TEST(remains.received->repeated.size() <= 1u);
  }
  BOOST_TEST(remains.received->repeats > 0u);
  expect_received(remains, 20);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_put_is_tried_again_alone_and_what_is_behind_it_waits) {
  receiver_remains remains;
  remains.received->refused = "5";
  const auto life = begin_life(remains);
  put_range(*life, 1, 12);
  life->recover();
  expect_received(remains, 4);
  BOOST_TEST((life->status().error == errc::no_auth));
  BOOST_TEST(life->status().put == 4u);
  BOOST_TEST(remains.received->repeats == 0u);
  remains.received->refused.clear();
  life->recover();
  expect_received(remains, 12);
  BOOST_TEST(!life->status().error);
  BOOST_TEST(remains.received->repeats == 0u);
}

BOOST_AUTO_TEST_CASE(whatever_happens_each_is_taken_once_and_in_order) {
  for (unsigned seed = 1; seed <= 1'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { receiver_history(seed).run(); }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Random lives of a process that puts into a queue of its own.

namespace {

/// Into a queue that can be asked what was put.
class queue_history final : public random_history {
 public:
  explicit queue_history(unsigned seed) : random_history(seed, 3) {}

 private:
  std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) override {
    return std::make_unique<spooling_process>(remains_, options(), plan, fault);
  }
  bool& is_away() override { return remains_.items->is_away; }
  const std::vector<std::string>& arrived() override { return remains_.items->all; }
  void end_life() override {
    if (options().durability == spool_durability::power && below(2)) remains_.file->lose_power();
  }

  spool_remains remains_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_random)

BOOST_AUTO_TEST_CASE(whatever_happens_each_is_put_once_and_in_order) {
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { queue_history(seed).run(); }
  }
}

BOOST_AUTO_TEST_SUITE_END()
