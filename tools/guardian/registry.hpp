#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "descriptor.hpp"
#include "event_log.hpp"
#include "held_process.hpp"
#include "process_identity.hpp"

namespace guardian {

/// Waits for the proof that a process is dead.
class process_watch {
 public:
  using handler = std::function<void(std::string_view proof)>;

  /// `told` is called once, later, and may destroy the watch.
  process_watch(const boost::asio::any_io_executor& executor, int pidfd, handler told);

  /// Also looks for an early proof, in /proc/PID: soon, and then in growing pauses of at most `longest`.
  void look_early(descriptor process_folder, std::chrono::milliseconds longest);
  /// The next look is soon.
  void look_soon();
  bool looks_early() const noexcept { return bool(folder_); }

 private:
  void wait_for_end();
  void wait_for_look();
  void report(std::string_view proof);

  boost::asio::posix::stream_descriptor pidfd_;
  boost::asio::steady_timer timer_;
  handler told_;
  descriptor folder_;
  std::chrono::milliseconds pause_{0};
  std::chrono::milliseconds longest_{0};
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a handler can come after our end, without an error
};

/// When to look for an early proof.
struct early_looks {
  bool after_end_of_line = false;
  std::chrono::milliseconds always{0};  ///< At processes whose connections stand, too, so often. 0: not.
};

/// The processes that the guardian knows, and the users that they belong to.
class registry {
 public:
  /// Told what a process held that has ended.
  using heir = std::function<void(held_process_ptr, std::vector<held_session>)>;

  registry(boost::asio::any_io_executor executor, const limits& most, early_looks early, event_log& log, heir told);

  std::shared_ptr<user_account> account_of(uid_t user);

  struct admitted {
    held_process_ptr process;
    std::string problem;
  };
  /// The process of this pidfd, which may be known already. Only the peer itself is admitted: pidfds of other processes
  /// of its user can be had that it could neither signal nor speak for, such as those of other containers.
  admitted admit(descriptor pidfd, const peer& by);

  void attach(const held_process_ptr& process, process_line& line);
  /// The line has ended, which proves nothing.
  void detach(const held_process_ptr& process, process_line& line);

  std::size_t process_count() const noexcept { return watched_.size(); }
  std::size_t session_count() const;
  std::size_t term_count() const;
  /// The longest of all sessions.
  std::chrono::milliseconds longest_timeout() const;

 private:
  struct watched {
    held_process_ptr process;
    std::unique_ptr<process_watch> watch;
    std::set<process_line*> lines;
  };
  void begin_watch(watched& which);
  void end(const process_identity& who, std::string_view proof);
  void drop_idle_accounts();

  boost::asio::any_io_executor executor_;
  limits most_;
  early_looks early_;
  event_log& log_;
  heir told_;
  std::shared_ptr<user_account> all_users_;
  std::map<uid_t, std::shared_ptr<user_account>> accounts_;
  std::map<process_identity, watched> watched_;
  std::uint64_t nameless_ = 0;
};

}  // namespace guardian
