// The time in which the command runs, because something is held.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

#include "hold/alarm.hpp"
#include "hold/command_process.hpp"

namespace zkadmin {

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
