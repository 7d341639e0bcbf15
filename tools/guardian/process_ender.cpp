#include "process_ender.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "ending_process.hpp"
#include "secrets.hpp"

namespace guardian {

namespace {

/// For all users. Each process of this many takes some memory.
constexpr std::size_t most_processes = 64;
constexpr std::chrono::milliseconds pause_between_starts{100};

/// The processes, and the orders that wait for one: because there are too many, or because none could be started. It
/// lives as long as an order is pending, also after the guardian has gone: a process is not killed for that.
class process_ender : public std::enable_shared_from_this<process_ender> {
 public:
  using time_point = ending_process::time_point;
  using handler = ending_process::handler;

  process_ender(boost::asio::any_io_executor executor, std::string program)
      : executor_(std::move(executor)), program_(std::move(program)), timer_(executor_) {}

  void end(session_of_the_dead what, time_point deadline, handler done) {
    waiting_.push_back({std::move(what), deadline, std::move(done)});
    boost::asio::post(executor_, [self = shared_from_this()] { self->go_on(); });
  }

 private:
  struct order {
    session_of_the_dead what;
    time_point deadline;
    handler done;
  };

  using processes = std::map<uid_t, std::shared_ptr<ending_process>>;

  /// Gives the orders that wait to processes, and drops those that have waited for too long.
  void go_on() {
    const auto now = zkrecipes::lease_clock::now();
    std::set<uid_t> dropped;
    for (auto& each : std::exchange(waiting_, {})) {
      if (each.deadline <= now) {
        dropped.insert(each.what.user);
        drop(each, problem_.empty() ? "the session has timed out" : problem_);
      } else if (const auto process = of(each.what.user)) {
        give(each, *process);
      } else {
        waiting_.push_back(std::move(each));
      }
    }
    for (const auto user : dropped) let_go(user);  // their processes were kept for these orders
    if (!waiting_.empty()) wait();
  }
  void wait() {
    timer_.expires_after(pause_between_starts);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->go_on();
    });
  }
  /// Null if there can not be one now.
  std::shared_ptr<ending_process> of(uid_t user) {
    const auto known = processes_.find(user);
    if (known != processes_.end() && !known->second->is_over()) return known->second;
    if (known != processes_.end()) let_end(known);
    if (count() >= most_processes) {
      problem_ = "there are too many ending processes";
      return nullptr;
    }
    try {
      return processes_[user] = ending_process::start(executor_, program_);
    } catch (const std::exception& failure) {
      problem_ = failure.what();
      return nullptr;
    }
  }
  void give(order& which, ending_process& to) {
    problem_.clear();
    const auto user = which.what.user;
    try {
      to.order(std::move(which.what), which.deadline,
               [self = shared_from_this(), user, done = which.done](const ending& result) {
                 done(result);  // which can give another order
                 self->let_go(user);
               });
    } catch (const std::exception& failure) {
      drop(which, failure.what());
      let_go(user);
    }
  }
  static void drop(order& which, const std::string& why) {
    wipe(which.what.session);
    which.done({why, 0, 0, false});
  }
  void let_go(uid_t user) {
    const auto known = processes_.find(user);
    if (known == processes_.end() || known->second->pending() > 0 || waits(user)) return;
    if (!known->second->is_over()) known->second->leave();
    let_end(known);
  }
  /// It counts until it has ended.
  void let_end(processes::iterator which) {
    ending_.push_back(which->second);
    processes_.erase(which);
  }
  std::size_t count() {
    std::erase_if(ending_, [](const auto& each) { return each.expired(); });
    return processes_.size() + ending_.size();
  }
  bool waits(uid_t user) const {
    return std::ranges::any_of(waiting_, [user](const order& each) { return each.what.user == user; });
  }

  boost::asio::any_io_executor executor_;
  std::string program_;
  boost::asio::steady_timer timer_;
  processes processes_;
  std::vector<std::weak_ptr<ending_process>> ending_;  // those that are let go, or have failed, and live
  std::deque<order> waiting_;
  std::string problem_;  // why there was no process, the last time
};

}  // namespace

session_ender make_process_ender(const boost::asio::any_io_executor& executor, std::string program) {
  auto ender = std::make_shared<process_ender>(executor, std::move(program));
  return [ender](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                 std::function<void(const ending&)> done) { ender->end(std::move(what), deadline, std::move(done)); };
}

}  // namespace guardian
