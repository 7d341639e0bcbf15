// A process of a test, made by `fork`: it tells the guardian something and then does as it is bidden.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "backend/guardian/guardian_message.hpp"
#include "descriptor.hpp"

namespace guardian::test {

/// A pidfd of this process, or of another one.
descriptor open_pidfd(pid_t pid, unsigned flags = 0);

/// The end of a connection to a guardian, used by a child or a test, which waits in each call.
class talker {
 public:
  explicit talker(const std::string& path);
  explicit talker(descriptor connected) : socket_(std::move(connected)) {}

  int socket() const noexcept { return socket_.get(); }
  /// Sends bytes, with descriptors beside the first one. False: the guardian has closed the connection.
  bool send(const std::string& bytes, const std::vector<int>& descriptors = {});
  bool tell(const zkrecipes::backend::guardian_message& what) { return send(*zkrecipes::backend::to_line(what)); }
  /// Tells `hello` with our own pidfd.
  void greet(std::chrono::milliseconds hang_limit = {}, const std::string& client = std::string(32, 'c'));
  /// The next line from the guardian, without its newline; empty once the connection has ended.
  std::string hear();
  /// `complete`, and its answer.
  void complete();

 private:
  descriptor socket_;
  std::string unread_;
};

/// The line of an incarnation, and of a term in it.
zkrecipes::backend::guarded_session session_of(std::int64_t id);
zkrecipes::backend::guarded_term term_of(std::int64_t session, const std::string& record);

class child {
 public:
  /// What a child sees of the test.
  struct orders {
    int to_test;
    int from_test;
    void report(char what) const;  ///< To `child::reports`.
    char wait() const;             ///< For `child::order`. 0: the test has ended.
  };

  /// Runs `what` in a new process, which has no descriptor of the test but those of its orders, and ends with it.
  explicit child(const std::function<void(const orders&)>& what);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();

  pid_t pid() const noexcept { return pid_; }
  /// Where its reports can be read.
  int reports() const noexcept { return reports_.get(); }
  void order(char what) const;
  void signal(int number) const;
  /// Waits until it is a zombie, and lets it be one.
  void wait_for_end() const;
  void wait_until_stopped() const;
  /// Kills it, and ends its orders, for children of its own that wait for them.
  void drop();
  /// Waits for its end, and removes it from the list of processes. Returns its status.
  int reap();
  bool is_alive() const;

 private:
  pid_t pid_ = -1;
  descriptor reports_;
  descriptor orders_;
};

}  // namespace guardian::test
