#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include <testcluster/ensemble.hpp>

#include "consumer_group.hpp"
#include "phases.hpp"
#include "process.hpp"
#include "progress.hpp"
#include "roles.hpp"
#include "shard_source.hpp"
#include "summary.hpp"

namespace demo {

// The broker that holds the shards of a run, and that is killed.

class demo_broker {
 public:
  virtual ~demo_broker() = default;

  /// As lines for people call it: "Redis".
  virtual std::string name() const = 0;
  /// As the processes are told it: host:port, of several nodes with commas between them.
  virtual std::string address() const = 0;
  virtual int nodes() const noexcept = 0;
  /// SIGKILL to the node that is next in turn, which runs. Returns how lines call it: "the broker".
  virtual std::string kill_next() = 0;
  /// Starts the node that was killed last, and returns when the broker is again as it was before. Blocks.
  virtual void restore() = 0;
};

/// Starts the broker that the sources of the run need, and returns when it serves. Null: they need none.
std::unique_ptr<demo_broker> make_broker(const direction& how);

/// How long the parts of a run take.
struct timings {
  std::chrono::milliseconds tick{500};            ///< The tick of the servers.
  std::chrono::milliseconds timeout{4'000};       ///< The timeout of the consumers' sessions.
  std::chrono::milliseconds deadline{1'000};      ///< The deadline of their hand-overs.
  std::chrono::milliseconds grace{5'000};         ///< For so long shards wait for an owner that restarts.
  std::chrono::milliseconds production{30'000};   ///< The messages are spread over this time.
  std::chrono::milliseconds time_limit{110'000};  ///< The limit for the whole run.
};

/// With more than one kill all is faster, so that many kills take little time.
timings choose_timings(const direction& how);

/// What the directors of both kinds of runs have in common: the servers, the processes, and the waiting.
class stage {
 public:
  stage(const stage&) = delete;

 protected:
  using duration = std::chrono::milliseconds;

  stage(boost::asio::io_context& io, const direction& how);
  ~stage() = default;

  void say(const std::string& text);
  /// Empty if there is none.
  std::string address_of_broker() const { return broker_ ? broker_->address() : std::string(); }
  /// Starts the guardian, if there is to be one, and makes the folder of the results.
  boost::asio::awaitable<void> prepare();
  /// Starts the consumers, the producer, and, on a terminal, the dashboard. `died` is told of each consumer that has
  /// ended by itself, and has been started again.
  void start_processes(std::function<void(const std::string& id)> died);
  /// The messages are divided evenly among the sources: it puts the part of this one.
  void start_producer(std::size_t part);
  boost::asio::awaitable<void> wait_produced();
  boost::asio::awaitable<void> wait_empty(backlog& which);
  /// Waits until consumers have settled what they have in hand, where the last of the backlogs does not tell.
  boost::asio::awaitable<void> wait_in_hand(const std::vector<backlog*>& all);
  /// Ends the consumers and the dashboard.
  boost::asio::awaitable<void> stop_processes();
  /// Fills in what both kinds of runs have.
  void judge(figures& outcome, const std::vector<result>& results, const std::vector<zkrecipes::dead_letter>& letters,
             const std::vector<phase_mark>& marks);

  boost::asio::awaitable<void> kill_server_leader();
  boost::asio::awaitable<void> start_server();
  boost::asio::awaitable<void> blocking(std::function<void()> call);

  /// A short pause. \throws std::runtime_error if the run takes too long
  boost::asio::awaitable<void> pause_between();
  boost::asio::awaitable<void> wait_for(duration length);
  /// Waits for a share of the messages that can be processed.
  boost::asio::awaitable<void> wait_processed(double share);
  /// Waits until one more message is processed, or all are.
  boost::asio::awaitable<void> wait_progress();

  boost::asio::io_context& io_;
  direction how_;
  timings times_;
  workload work_;
  std::mt19937_64 random_;
  testcluster::ensemble ensemble_;
  std::unique_ptr<demo_broker> broker_;  // null: the messages are in the ensemble
  scratch phases_;
  phase_log log_;
  zkrecipes::session session_;
  progress progress_;
  boost::asio::thread_pool blocking_pool_{1};
  consumer_group consumers_;
  process producer_;
  source_kind source_;  // that of processes which are started from now on
  process dashboard_;
  scratch guardian_folder_;
  process guardian_;
  int server_leaders_killed_ = 0;
  int killed_server_ = 0;  ///< 0: all are to run.

 private:
  boost::asio::awaitable<void> supervise(std::function<void(const std::string& id)> died);
  process launch_consumer(const std::string& id);
  std::string guardian_socket() const;
  boost::asio::awaitable<void> start_guardian();
  std::uint64_t good_messages() const { return work_.messages() - work_.bad().size(); }

  bool settling_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace demo
