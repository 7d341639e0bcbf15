// The time in which the command runs, because something is held.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

#include "hold/command_process.hpp"

namespace zkadmin {

// The processes below this one. It has to be a child subreaper (`PR_SET_CHILD_SUBREAPER`): then a process whose parent
// has ended stays below it, also one that has made a session of its own.

/// Makes this process a child subreaper.
void keep_descendants() noexcept;

/// Those that there are at this moment, as /proc tells them; they may start others meanwhile.
std::vector<pid_t> descendants();

/// Sends the signal to each of them. Returns the first of those that may not be signalled, because they have other
/// rights than we; 0: none.
pid_t signal_descendants(int number);

/// Returns when SIGTSTP has stopped those of our process group that have its default action, at the latest after 2 s.
void wait_until_stopped();

/// Kills them, and returns when none is left. Says so on standard error if that takes longer than a second.
void kill_all_descendants();

/// Its descriptor is readable from the time on that it was set to. Processes that have inherited it share it: one sets
/// it, another one waits. The time of a suspended machine counts.
class boot_timer {
 public:
  /// \throws std::system_error
  boot_timer();
  ~boot_timer();
  boot_timer(const boot_timer&) = delete;

  void set(zkrecipes::lease_clock::time_point when) noexcept;
  void clear() noexcept;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Waits for a time on the clock of leases, or for somebody who rings. For one waiting coroutine, on one thread.
class alarm {
 public:
  explicit alarm(boost::asio::io_context& io);

  /// Returns at this time, or when it is rung; at once if that was done since the last wait.
  boost::asio::awaitable<void> wait_until(zkrecipes::lease_clock::time_point when);
  void ring();

 private:
  boot_timer timer_;
  boost::asio::posix::stream_descriptor expiry_;
  bool is_rung_ = false;
};

/// Why a tenure is over.
enum class tenure_end {
  finished,   ///< The command has ended by itself.
  lost,       ///< The ownership has ended, or was about to.
  asked,      ///< Somebody asked for the ownership.
  abandoned,  ///< Nobody waits for the command any more.
};

struct tenure_limits {
  std::chrono::milliseconds grace;            ///< Between SIGTERM and SIGKILL, as wished.
  std::chrono::milliseconds session_timeout;  ///< As negotiated.
};

/// Ends the command and all processes below this one before somebody else can be the owner: SIGTERM, then SIGKILL. If
/// the lease is not prolonged, they are killed a reserve before its end, which itself comes a margin before the end of
/// the session.
class tenure {
 public:
  using message_hook = std::function<void(const std::string&)>;

  /// The references have to outlive the tenure; the alarm also the session of the ownership. `last_resort`
  /// is always set to a time at which another process should kill the command, because we have not; it is cleared at
  /// the end.
  tenure(zkrecipes::session over, zkrecipes::ownership& held, tenure_limits with, alarm& wake, boot_timer& last_resort,
         message_hook say);

  /// Whether the lease lasts for long enough to start anything.
  bool may_begin() const;
  /// Sets the last resort. To be called before the command is started, because this process may be stopped at any time.
  void prepare();
  /// Returns when the command has ended; after any other end than `finished` no process below this one is left.
  boost::asio::awaitable<tenure_end> run(command_process& command);
  /// Nobody waits for the command any more: it is ended.
  void abandon();
  /// Whether the command is being ended, or has been.
  bool is_ending() const noexcept { return end_ != tenure_end::finished; }

 private:
  using clock = zkrecipes::lease_clock;

  /// What somebody asks for.
  struct request {
    bool is_there = false;
    std::optional<clock::time_point> due{};  ///< When it is taken, if that was said.
  };

  void listen();
  void consider(clock::time_point present);
  void begin_to_end(tenure_end why, std::chrono::nanoseconds grace, const std::string& reason);
  void kill_if_due(clock::time_point present);
  clock::time_point last_moment() const;
  clock::time_point kill_time() const;
  clock::time_point next_look(clock::time_point present) const;
  std::string reason_of_loss() const;

  zkrecipes::session session_;
  zkrecipes::ownership& held_;
  std::chrono::nanoseconds grace_;
  std::chrono::nanoseconds grace_at_loss_;
  std::chrono::nanoseconds reserve_;
  alarm& alarm_;
  boot_timer& last_resort_;
  message_hook say_;
  std::shared_ptr<request> request_ = std::make_shared<request>();
  bool is_abandoned_ = false;
  int kills_ = 0;
  bool is_forbidden_ = false;
  tenure_end end_ = tenure_end::finished;
  clock::time_point kill_at_{};
};

}  // namespace zkadmin
