#pragma once

#include <chrono>

#include <sys/types.h>

#include <boost/json.hpp>

#include "command_line.hpp"
#include "descriptor.hpp"

namespace testcluster::command {

/// The background process that owns the ensemble and takes requests until it is told to end.
class supervisor {
 public:
  enum class lifetime {
    own,    ///< Goes on when this process and this object have ended.
    bound,  ///< Ends by itself when this process ends, however it ends, and at end().
  };

  /// Starts the process.
  supervisor(const arguments& wanted, lifetime how);

  /// Readable as soon as started() does not have to wait.
  int outcome() const { return outcome_.get(); }
  pid_t pid() const { return pid_; }

  /// Waits until every server serves, and returns the description that `up` shows. Throws testcluster::error if the
  /// start fails.
  boost::json::object started();

  /// Ends the cluster and returns when it is gone. A supervisor that does not end in time is killed. Only if it is
  /// bound.
  void end(std::chrono::milliseconds patience);

 private:
  bool await_end(std::chrono::milliseconds patience) const;
  void kill();
  detail::descriptor outcome_, lifeline_;
  std::filesystem::path dir_;
  pid_t pid_ = 0;
};

}  // namespace testcluster::command
