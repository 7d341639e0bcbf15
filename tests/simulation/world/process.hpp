// One simulated process: its own executor, its own clock, which may run a little fast or slow. A paused
// process is not run while time passes; what reaches it meanwhile waits for it.
#pragma once

#include "world/clockwork.hpp"

#include <zkrecipes/lease_clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace zkrecipes::simulation {

namespace asio = boost::asio;

class process : public std::enable_shared_from_this<process> {
 public:
  /// `parts_per_million`: how much faster than true time its clock runs. `stepped` is called after it has
  /// run.
  process(clockwork& clock, int number, std::int64_t parts_per_million, std::function<void()> stepped);

  int number() const noexcept { return number_; }
  asio::any_io_executor executor() { return io_->get_executor(); }
  /// Where everything that reaches the process happens.
  void happen_on(const asio::any_io_executor& strand) {
    strand_ = asio::require(strand, asio::execution::blocking.never);
  }

  /// \throws std::runtime_error where nothing else is done any more than looking at the clock.
  lease_clock::time_point now();
  instant true_time(lease_clock::time_point when) const;

  std::uint64_t call_at(lease_clock::time_point when, std::function<void()> what);
  void cancel(std::uint64_t timer) { timers_.erase(timer); }

  /// Something from the network; lost if the process has gone.
  void receive(action what);

  /// What the process was told to do from outside, by the scenario.
  void run(const std::function<void()>& what);

  void pause() { paused_ = true; }
  /// `network_first`: whether it looks at its sockets or at its timers first.
  void resume(bool network_first);
  bool paused() const noexcept { return paused_; }

  /// The end of the process, without any goodbye: nothing is sent any more. `drop` destroys what lives on its
  /// executor.
  void kill(const std::function<void()>& drop);
  bool alive() const noexcept { return alive_; }

  /// Handlers run, and looks at the clock, in one go without time passing; more than this is a busy loop.
  static constexpr int most_handlers = 20'000;
  static constexpr int most_looks = 100'000;
  bool ran_away() const noexcept { return ran_away_; }

 private:
  lease_clock::time_point local(instant when) const;
  void expire(std::uint64_t timer);
  void poll();

  clockwork& clock_;
  int number_;
  std::int64_t parts_per_million_;
  std::function<void()> stepped_;
  std::unique_ptr<asio::io_context> io_;
  asio::any_io_executor strand_;  // it never runs anything at once
  bool alive_ = true;
  bool paused_ = false;
  bool ran_away_ = false;
  int looks_ = 0;
  std::uint64_t last_timer_ = 0;
  std::map<std::uint64_t, std::function<void()>> timers_;
  std::vector<std::uint64_t> due_;  // while paused
  std::vector<action> received_;  // while paused
};

using process_ptr = std::shared_ptr<process>;

}  // namespace zkrecipes::simulation
