#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/error.hpp>

#include "backend/world.hpp"

namespace zkrecipes::backend {

/// The addresses of a host as the system knows it, as numbers; or why there are none.
struct host_answer {
  std::string host;
  std::vector<std::string> addresses;
  error_code error;
  std::chrono::steady_clock::time_point when = std::chrono::steady_clock::now();
};

/// Where the threads that look hosts up leave their answers. It outlives who reads them, because nobody can end such a
/// thread. From any thread.
class lookup_mailbox {
 public:
  lookup_mailbox();
  ~lookup_mailbox();
  lookup_mailbox(const lookup_mailbox&) = delete;

  /// Can be read when there is an answer; below zero: the process has no descriptor left.
  int descriptor() const noexcept { return descriptor_; }
  void put(host_answer what);
  std::vector<host_answer> take();

 private:
  int descriptor_;
  std::mutex mutex_;
  std::vector<host_answer> answers_;
};

/// The hosts that the process is looking up. The system's resolver blocks, and nothing ends it before its time. Asio's
/// thread for it serves one name after the other, and the context waits for it at its end. So here each host has a
/// thread of its own until it is answered, which nobody waits for, and which ends with the process. Sessions that want
/// the same host share it: there are never more such threads than hosts that hang. From any thread.
class host_lookups {
 public:
  /// Never destroyed, because threads may outlive `main`.
  static host_lookups& of_process();

  /// The answer comes to `to`, unless that has gone by then. An error: there will be none.
  error_code ask(const std::string& host, const std::shared_ptr<lookup_mailbox>& to);

 private:
  void answer(const host_answer& what);

  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<lookup_mailbox>>> waiting_;  // by host
  pid_t process_ = 0;  // a child that was forked has none of the threads
};

/// Names that are looked up together. On the strand.
class name_resolution {
 public:
  name_resolution(const boost::asio::any_io_executor& strand, std::vector<endpoint> names, resolve_handler handler);

  /// The hosts among them that are not numeric.
  std::vector<std::string> hosts() const;
  void on_answer(const host_answer& what);
  /// What has no answer by now gets none.
  void give_up(const error_code& why);
  bool is_done() const;
  void finish() { handler_(std::move(all_)); }

  boost::asio::steady_timer& timer() noexcept { return timer_; }

 private:
  struct state {
    bool is_numeric = false;
    bool is_answered = false;
  };

  boost::asio::steady_timer timer_;  // ends the waiting
  std::vector<resolved_name> all_;
  std::vector<state> states_;  // of each
  resolve_handler handler_;
};

/// The names that are being resolved for one strand. A host that is not known in time counts as not to be found; the
/// answer is not lost, because who asks again waits for the same lookup. On the strand.
class name_resolutions : public std::enable_shared_from_this<name_resolutions> {
 public:
  explicit name_resolutions(boost::asio::any_io_executor strand) : strand_(std::move(strand)), arrivals_(strand_) {}

  void resolve(std::vector<endpoint> names, resolve_handler handler);
  /// Drops all of them, with their handlers.
  void abandon();

 private:
  using one = std::shared_ptr<name_resolution>;

  bool wait_for_answers();
  void take_answers();
  void limit(const one& which);
  void finish_done();

  boost::asio::any_io_executor strand_;
  boost::asio::posix::stream_descriptor arrivals_;  // a duplicate of the mailbox's
  std::shared_ptr<lookup_mailbox> mailbox_;         // null while nothing is sought
  bool is_one_late_ = false;                        // an answer may still come for which nobody waits
  std::vector<std::weak_ptr<name_resolution>> under_way_;
};

}  // namespace zkrecipes::backend
