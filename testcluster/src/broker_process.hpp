#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include <sys/types.h>

#include "connection.hpp"
#include "spawn.hpp"

namespace testcluster::detail {

/// What error messages call it.
struct broker_names {
  std::string program;  ///< "redis-server"
  std::string package;  ///< of Debian
  std::string subject;  ///< "the broker", of which they say that it runs or does not run
};

/// The process of a broker while it runs, and a log of all its starts. The process ends with the object.
class broker_process {
 public:
  broker_process(broker_names names, std::filesystem::path log);
  ~broker_process();
  broker_process(const broker_process&) = delete;
  broker_process& operator=(const broker_process&) = delete;

  /// Returns at once. Its output goes to the log. Throws testcluster::error if there is no such program.
  void launch(spawn_options how);

  /// Asks `answers` every `interval` until it is so, because no broker tells when it is ready. Throws
  /// testcluster::error, with the end of the log, if the process ends before, and at the deadline; it runs on then.
  void await_answer(const std::function<bool()>& answers, std::chrono::milliseconds interval,
                    clock::time_point deadline);

  bool runs();  ///< Also notices if it has ended by itself.
  pid_t pid();  ///< 0: it does not run
  bool is_paused() const { return is_paused_; }

  /// Throws testcluster::error if it runs, or does not run, other than `what` needs.
  void require(bool is_running, const char* what);

  void kill();                                      ///< SIGKILL; nothing happens if it does not run
  void stop(std::chrono::milliseconds time_limit);  ///< SIGTERM, and SIGKILL after this time
  void pause();
  void resume();

  std::string log() const;

 private:
  broker_names names_;
  std::filesystem::path log_;
  pid_t pid_ = 0;
  bool is_paused_ = false;
};

}  // namespace testcluster::detail
