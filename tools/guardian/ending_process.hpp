#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "descriptor.hpp"
#include "ending_order.hpp"
#include "secrets.hpp"

namespace guardian {

/// A process that ends sessions of one user, seen from the guardian. The servers are named by that user, and the C
/// client trusts its servers: one that breaks the protocol can abort this process, stop it or fill its memory. The
/// orders that it has not answered then have ended with a problem, and nothing else is hurt. `run_ending_worker` is
/// its inside.
class ending_process : public std::enable_shared_from_this<ending_process> {
 public:
  using time_point = zkrecipes::lease_clock::time_point;
  using handler = std::function<void(const ending&)>;

  /// Starts `program`. \throws std::system_error if it can not be started.
  static std::shared_ptr<ending_process> start(const boost::asio::any_io_executor& executor,
                                               const std::string& program);
  ending_process(const ending_process&) = delete;
  ending_process& operator=(const ending_process&) = delete;
  ~ending_process();

  /// `done` is called once, later. Only before `is_over`. \throws std::runtime_error if it is too large; then `done` is
  /// not called.
  void order(session_of_the_dead what, time_point deadline, handler done);
  std::size_t pending() const noexcept { return pending_.size(); }
  /// It has failed, or was told to leave.
  bool is_over() const noexcept { return !socket_.is_open(); }
  pid_t pid() const noexcept { return pid_; }
  /// No order is pending, and none will come: it ends by itself.
  void leave();

 private:
  struct pending_order {
    time_point latest;
    handler done;
  };
  using socket = boost::asio::local::stream_protocol::socket;

  ending_process(const boost::asio::any_io_executor& executor, pid_t pid);
  void take(descriptor& its_socket, descriptor& pidfd);
  void kill() const;
  void read();
  void take_lines();
  void write();
  void watch_time();
  void fail(const std::string& why);
  void wait_for_end();

  socket socket_;
  pid_t pid_;
  boost::asio::posix::stream_descriptor pidfd_;
  boost::asio::steady_timer timer_;
  std::string part_;
  line_buffer answers_;
  std::deque<std::string> orders_;  // the first one is being sent
  std::map<std::int64_t, pending_order> pending_;
  std::int64_t last_number_ = 0;
  bool is_reaped_ = false;
};

/// Ends sessions in other processes, one for each user, which are there while there is something to end. `program`:
/// this one.
session_ender make_process_ender(const boost::asio::any_io_executor& executor, std::string program);

/// The inside of an ending process: carries out the orders that come over its standard input, a Unix stream socket, all
/// at the same time, and answers over it. Returns the exit status, once the input has ended and every order is carried
/// out: a guardian that is killed does not break off what has begun.
int run_ending_worker();

}  // namespace guardian
