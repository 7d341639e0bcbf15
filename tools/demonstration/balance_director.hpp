#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include <testcluster/ensemble.hpp>

#include "balance_summary.hpp"
#include "process.hpp"
#include "roles.hpp"

namespace demo {

/// Starts processes that move at the same pace, injects faults while they work, and measures how far they were apart.
class balance_director {
 public:
  balance_director(boost::asio::io_context& io, const direction& how);

  boost::asio::awaitable<void> run();
  const balance_summary& outcome() const noexcept { return summary_; }

 private:
  using duration = std::chrono::milliseconds;
  enum class fault { kill, pause, kill_server };
  struct walker {
    std::string id;
    process running;
    bool is_hit = false;  // it is down or stopped
  };

  boost::asio::awaitable<void> make_lanes();
  void start(walker& which);
  boost::asio::awaitable<void> make_trouble();
  boost::asio::awaitable<void> cause(fault what);
  boost::asio::awaitable<void> kill_server();
  boost::asio::awaitable<void> start_later(walker& which, duration pause);
  boost::asio::awaitable<void> resume_later(walker& which, duration pause);
  boost::asio::awaitable<walker*> choose();
  void silence(walker& which, int signal);
  void look_for_ended();
  boost::asio::awaitable<std::uint64_t> processed();
  boost::asio::awaitable<void> wait_processed(std::uint64_t count);
  boost::asio::awaitable<void> wait_for(duration length);
  boost::asio::awaitable<void> blocking(std::function<void()> call);
  boost::asio::awaitable<void> stop_all();
  boost::asio::awaitable<void> audit_all();
  std::vector<fault> plan_faults();
  duration up_to(duration most);
  void say(const std::string& text);

  boost::asio::io_context& io_;
  direction how_;
  std::mt19937_64 random_;
  testcluster::ensemble ensemble_;
  scratch folder_;
  zkrecipes::session session_;
  boost::asio::thread_pool blocking_pool_{1};
  std::vector<walker> walkers_;
  balance_summary summary_;
  int beside_ = 0;  // faults that have not ended
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace demo
