// The library's seam (`backend::world`), implemented on the simulated ensemble.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

#include "backend/world.hpp"
#include "model/ensemble.hpp"
#include "world/broker_network.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

// One simulated process. It has its own executor, and its own clock, which may run a little fast or slow. While a
// process is paused, time passes but none of its handlers runs; network input and timers wait until it is resumed.

namespace asio = boost::asio;

class process : public std::enable_shared_from_this<process> {
 public:
  /// `parts_per_million`: how much faster than true time its clock runs. `stepped` is called whenever handlers of the
  /// process have run.
  process(clockwork& clock, int number, std::int64_t parts_per_million, std::function<void()> stepped);

  int number() const noexcept { return number_; }
  asio::any_io_executor executor() { return io_->get_executor(); }
  /// Network input and timers of the process run on this strand from now on.
  void happen_on(const asio::any_io_executor& strand) {
    strand_ = asio::require(strand, asio::execution::blocking.never);
  }

  /// \throws std::runtime_error at more than `max_looks` calls without time passing: a loop that only reads the clock.
  lease_clock::time_point now();
  instant true_time(lease_clock::time_point when) const;

  std::uint64_t call_at(lease_clock::time_point when, std::function<void()> what);
  void cancel(std::uint64_t timer) { timers_.erase(timer); }

  /// Handles input from the network; it is lost if the process has been killed.
  void receive(action what);

  /// For the process itself: runs this behind the handlers that wait already.
  void post(action what) {
    if (alive_) strand_.execute(std::move(what));
  }

  /// Owns an object, such as a handler that waits for the network, until it is let go or the process is killed.
  std::uint64_t keep(std::shared_ptr<void> what) {
    kept_.emplace(++last_kept_, std::move(what));
    return last_kept_;
  }
  void let_go(std::uint64_t which) { const auto gone = kept_.extract(which); }

  /// `around` is called with true before handlers of the process run, and with false afterwards.
  void observe_handlers(std::function<void(bool)> around) { around_ = std::move(around); }

  /// Runs something that the scenario tells the process to do.
  void run(const std::function<void()>& what);

  void pause() { paused_ = true; }
  /// `network_first`: whether it looks at its sockets or at its timers first.
  void resume(bool network_first);
  bool paused() const noexcept { return paused_; }

  /// Ends the process at once: it sends nothing any more, not even the end of its session. `drop` destroys the objects
  /// that use its executor.
  void kill(const std::function<void()>& drop);
  bool alive() const noexcept { return alive_; }

  /// The most handlers, and the most looks at the clock, without time passing; more are a busy loop.
  static constexpr int max_handlers = 20'000;
  static constexpr int max_looks = 100'000;
  bool ran_away() const noexcept { return ran_away_; }

 private:
  lease_clock::time_point local(instant when) const;
  void expire(std::uint64_t timer);
  void poll();

  clockwork& clock_;
  int number_;
  std::int64_t parts_per_million_;
  std::function<void()> stepped_;
  std::function<void(bool)> around_ = [](bool) {};
  std::unique_ptr<asio::io_context> io_;
  asio::any_io_executor strand_;  // posts only: never runs a handler inside the call
  bool alive_ = true;
  bool paused_ = false;
  bool ran_away_ = false;
  int looks_ = 0;
  std::uint64_t last_timer_ = 0;
  std::map<std::uint64_t, std::function<void()>> timers_;
  std::uint64_t last_kept_ = 0;
  std::map<std::uint64_t, std::shared_ptr<void>> kept_;
  std::vector<std::uint64_t> due_;  // timers that came due while paused
  std::vector<action> received_;    // input that arrived while paused
};

using process_ptr = std::shared_ptr<process>;

struct surroundings {
  process_ptr inside;
  ensemble* servers = nullptr;
  journal* notes = nullptr;
  std::uint64_t seed = 0;                                ///< For the random numbers that the library draws.
  std::function<void(const connection_ptr&)> connected;  ///< Called with every new connection.
  broker_network* brokers = nullptr;                     ///< Null: there are none.
};

/// The seam for one session.
std::unique_ptr<backend::world> make_world(const surroundings& where, asio::any_io_executor strand);

/// A session of the library in this process.
session make_session(const surroundings& where, session_options options);

/// The value for `session_options::hosts`.
std::string hosts(int servers);

/// The client's end of a connection. It behaves as the C client does, including pings and dead-peer detection.
class wire final : public peer, public std::enable_shared_from_this<wire> {
 public:
  wire(const surroundings& where, backend::link_listener& listener) : where_(where), listener_(&listener) {}

  void connect(const backend::link_options& options);
  void submit(backend::request what, backend::reply_handler handler);
  void close_session();
  void abandon();

 private:
  void granted(const backend::session_key& key) override;
  void refused() override;
  void answered(backend::reply answer) override;
  void ponged() override;
  void fired(const backend::watch_event& event) override;
  void broken() override;

  template <class Function>
  void inside(Function what);
  void fail(error_code reason);
  void stay_alive();
  void drop();

  surroundings where_;
  backend::link_listener* listener_;
  connection_ptr connection_;
  std::deque<backend::reply_handler> pending_;
  std::chrono::milliseconds timeout_{0};
  lease_clock::time_point sent_;
  lease_clock::time_point heard_;
  backend::timer_id timer_ = 0;
  bool closing_ = false;
};

}  // namespace zkrecipes::simulation
