#pragma once

#include <functional>
#include <string>
#include <vector>

#include "phases.hpp"
#include "process.hpp"

namespace demo {

struct consumer_group_options {
  int size = 3;
  bool killers = false;  ///< Some messages kill the process.
  /// Whether a process that is started again has the id that it had before. Else each has an id of its own, so that a
  /// leader whose process has ended is not taken for its successor.
  bool same_ids = false;
};

/// The processes of the consumers. One that ends by itself is started again.
class consumer_group {
 public:
  using starter = std::function<process(const std::string& id)>;
  using speaker = std::function<void(const std::string& text)>;

  consumer_group(const consumer_group_options& how, phase_log& log, starter launch, speaker say);

  int size() const noexcept { return static_cast<int>(members_.size()); }
  const std::string& id(int index) const { return members_[index].id; }
  /// -1 if no process with this id runs.
  int index_of(const std::string& id) const;
  void start(int index);
  /// Stops or kills a process, waits until that is done, and logs until when it surely lived, and that none of its
  /// phases goes on any more. False if it had ended before, or was asked to end.
  bool silence(int index, int signal);
  void resume(int index);
  /// Asks a process to end by a signal; it is not started again. False if it had ended before.
  bool dismiss(int index, int signal);
  bool is_running(int index) const { return members_[index].running.pid() != 0; }
  /// Starts those again that have ended. Returns their ids.
  std::vector<std::string> supervise();
  /// Asks all to end, and waits until they have ended.
  void stop();

  int failed() const noexcept { return failed_; }          ///< Processes that ended as they should not.
  int runs_ended() const noexcept { return runs_ended_; }  ///< Those of them whose run ended with an error.
  int died() const noexcept { return died_; }              ///< Processes that were killed by a message.

 private:
  struct member {
    std::string id;
    process running;
    int starts = 0;
    bool is_dismissed = false;
  };

  void judge(const std::string& id, int status, bool stopped);

  consumer_group_options how_;
  phase_log& log_;
  starter launch_;
  speaker say_;
  std::vector<member> members_;
  int failed_ = 0;
  int runs_ended_ = 0;
  int died_ = 0;
};

}  // namespace demo
