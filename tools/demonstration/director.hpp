#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include <testcluster/ensemble.hpp>

#include "consumer_group.hpp"
#include "fault_plan.hpp"
#include "observer.hpp"
#include "phase_log.hpp"
#include "process.hpp"
#include "progress.hpp"
#include "roles.hpp"
#include "scratch.hpp"
#include "summary.hpp"
#include "timings.hpp"

namespace demo {

/// Injects faults while messages flow, and waits until all messages are settled.
class director {
 public:
  director(boost::asio::io_context& io, const direction& how);

  boost::asio::awaitable<void> run();
  const summary& outcome() const noexcept { return summary_; }

 private:
  boost::asio::awaitable<void> set_up();
  boost::asio::awaitable<void> make_trouble();
  boost::asio::awaitable<void> cause(fault_kind what);
  boost::asio::awaitable<void> planned_hand_over();
  boost::asio::awaitable<void> kill_consumer();
  boost::asio::awaitable<void> pause_consumer();
  boost::asio::awaitable<void> kill_server_leader();
  boost::asio::awaitable<void> start_server();
  boost::asio::awaitable<void> wait_processed(double share);
  boost::asio::awaitable<void> wait_leader(std::int64_t after);
  boost::asio::awaitable<void> wait_progress();
  boost::asio::awaitable<void> pause_between();
  boost::asio::awaitable<void> blocking(std::function<void()> call);
  boost::asio::awaitable<void> supervise();
  boost::asio::awaitable<void> wait_settled();
  boost::asio::awaitable<void> settle();
  boost::asio::awaitable<void> judge();
  process launch_consumer(const std::string& id);
  void start_producer();
  int leading_index() const { return consumers_.index_of(observer_.view().leader); }
  void say(const std::string& text);

  boost::asio::io_context& io_;
  direction how_;
  timings times_;
  workload work_;
  std::mt19937_64 random_;
  testcluster::ensemble ensemble_;
  scratch phases_;
  phase_log log_;
  zkrecipes::session session_;
  zkrecipes::queue queue_;
  observer observer_;
  progress progress_;
  boost::asio::thread_pool blocking_pool_{1};
  consumer_group consumers_;
  process producer_;
  process dashboard_;
  summary summary_;
  int killed_server_ = 0;
  bool settling_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace demo
