// Spooled producers on a simulated disk and a simulated queue, in lives of a process.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/simulated_disk.hpp"
#include "spool/simulated_queue.hpp"
#include "spool/spool_state.hpp"
#include "support/coroutine.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

/// What outlives a process.
struct spool_remains {
  std::shared_ptr<simulated_file> file = std::make_shared<simulated_file>();
  std::shared_ptr<simulated_items> items = std::make_shared<simulated_items>();
};

inline spool_options small_spool() {
  spool_options options;
  options.file = "spool.db";
  options.count = 4;
  options.interval = 5ms;
  return options;
}

/// A process with one producer. Its end is like SIGKILL.
class spooling_process {
 public:
  using plan_ptr = std::shared_ptr<step_plan>;
  using disk_maker = std::function<std::shared_ptr<detail::spool_disk>(boost::asio::any_io_executor, plan_ptr)>;

  using target_maker = std::function<std::unique_ptr<detail::spool_target>(boost::asio::any_io_executor, plan_ptr)>;

  explicit spooling_process(spool_remains& remains, spool_options options = small_spool(), step_plan plan = {},
                            put_fault fault = put_fault::refused)
      : plan_(std::make_shared<step_plan>(plan)), options_(options) {
    auto on = bench_.make_scheduler();
    disk_ = std::make_shared<simulated_disk>(on->strand, remains.file, plan_, options.durability);
    auto queue = std::make_unique<simulated_queue>(on->strand, remains.items, plan_, fault);
    queue->on_put = [this, file = remains.file](const std::vector<std::string>& all) { see_put(*file, all); };
    start(std::move(on), std::move(queue), disk_);
  }
  /// On another disk. It has to set `step_plan::is_crashed` when the process ends.
  spooling_process(const disk_maker& make, std::shared_ptr<simulated_items> items, spool_options options)
      : plan_(std::make_shared<step_plan>()), options_(options) {
    auto on = bench_.make_scheduler();
    auto queue = std::make_unique<simulated_queue>(on->strand, std::move(items), plan_, put_fault::refused);
    auto disk = make(on->strand, plan_);
    start(std::move(on), std::move(queue), std::move(disk));
  }
  /// Into another target.
  spooling_process(spool_remains& remains, const target_maker& make, spool_options options, step_plan plan)
      : plan_(std::make_shared<step_plan>(plan)), options_(options) {
    auto on = bench_.make_scheduler();
    disk_ = std::make_shared<simulated_disk>(on->strand, remains.file, plan_, options.durability);
    auto target = make(on->strand, plan_);
    start(std::move(on), std::move(target), disk_);
  }
  /// Nothing reaches the file or the queue any more. Everything that has an executor goes before the context does.
  ~spooling_process() {
    plan_->is_crashed = true;
    spool_.reset();
    state_.reset();
    disk_.reset();
    bench_.destroy_context();
  }

  spooled_producer& spool() { return *spool_; }
  void destroy_spool() { spool_.reset(); }
  fake_bench& bench() { return bench_; }
  step_plan& plan() { return *plan_; }
  simulated_disk& disk() { return *disk_; }
  simulated_queue& queue() { return *queue_; }
  spool_status status() const { return state_->status(); }

  recorder<std::uint64_t>& put(const std::string& data) {
    puts_.emplace_back(bench_.io().get_executor());
    spool_->async_put("", data, puts_.back().token());
    names_.push_back(data);
    return puts_.back();
  }
  recorder<std::uint64_t>& put_through(const std::string& data) {
    puts_.emplace_back(bench_.io().get_executor());
    spool_->async_put_through("", data, puts_.back().token());
    names_.push_back(data);
    return puts_.back();
  }
  recorder<> flush(std::chrono::milliseconds within = 60s) {
    recorder<> end(bench_.io().get_executor());
    spool_->async_flush(within, end.token());
    return end;
  }
  recorder<> close(std::chrono::milliseconds within = 60s) {
    recorder<> end(bench_.io().get_executor());
    spool_->async_close(within, end.token());
    return end;
  }

  void settle() {
    bench_.settle();
    see_memory();
  }
  void pass(std::chrono::milliseconds time) {
    bench_.advance(time);
    settle();
  }
  /// Long enough for every pause, unless the process has ended.
  void recover() {
    for (int i = 0; i < 40 && !plan_->is_crashed; ++i) pass(1s);
  }

  /// The messages by what their puts were told: "" is nothing, "ok", or the error.
  std::vector<std::pair<std::string, std::string>> told() {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < puts_.size(); ++i) {
      const auto what = !puts_[i].done() ? "" : puts_[i].error() ? puts_[i].error().message() : "ok";
      all.emplace_back(names_[i], what);
    }
    return all;
  }

 private:
  void start(detail::scheduler_ptr on, std::unique_ptr<detail::spool_target> target,
             std::shared_ptr<detail::spool_disk> disk) {
    queue_ = dynamic_cast<simulated_queue*>(target.get());
    state_ = std::make_shared<detail::spool_state>(std::move(on), options_, std::move(target), std::move(disk));
    state_->start();
    spool_.emplace(state_);
  }
  /// P3: nothing is in the queue, or on its way there, that is not in the file.
  void see_put(const simulated_file& file, const std::vector<std::string>& all) {
    const auto& seen = file.seen;
    for (const auto& each : all) {
      const auto has_it = [&](const auto& row) { return row.second.data == each; };
      BOOST_TEST((std::ranges::any_of(seen.rows, has_it)), each << " is sent and not in the file");
    }
  }
  /// P4: but for one message in each half.
  void see_memory() {
    const auto now = status();
    BOOST_TEST(now.memory <= std::max<std::size_t>(options_.most_memory, 2 * 1'064));
  }

  fake_bench bench_;
  std::shared_ptr<step_plan> plan_;
  spool_options options_;
  std::shared_ptr<simulated_disk> disk_;
  simulated_queue* queue_ = nullptr;  // the state has it; null: it has another target
  std::shared_ptr<detail::spool_state> state_;
  std::optional<spooled_producer> spool_;
  std::deque<recorder<std::uint64_t>> puts_;
  std::vector<std::string> names_;
};

/// P1 and P2 over all lives of a process. A message is a number; they are put in order.
class spool_judge {
 public:
  /// `may_lose`: what completed may be lost, because the power failed or the memory was all there was.
  void record_life(spooling_process& life, bool may_lose = false) {
    for (const auto& [name, what] : life.told()) told_[name] = may_lose && what == "ok" ? "" : what;
  }
  /// What completed so far may be lost.
  void forgive() {
    for (auto& [name, what] : told_) what = what == "ok" ? "" : what;
  }
  void judge(const std::vector<std::string>& items, bool no_failed_one) const {
    std::map<std::string, int> times;
    int before = 0;
    for (const auto& each : items) {
      ++times[each];
      BOOST_TEST(std::stoi(each) > before, "P2: " << each << " behind " << before);
      before = std::stoi(each);
    }
    for (const auto& [name, what] : told_) {
      const int found = times[name];
      BOOST_TEST(found <= 1, "P1: " << name << " is there " << found << " times");
      if (what == "ok") BOOST_TEST(found == 1, "P1: " << name << " was accepted and is not there");
      if (no_failed_one && what != "ok" && what != "") BOOST_TEST(found == 0, name << " had failed and is there");
    }
  }

 private:
  std::map<std::string, std::string> told_;
};

}  // namespace zkrecipes::test
