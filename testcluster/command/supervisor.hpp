#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

#include "command_line.hpp"
#include "descriptor.hpp"
#include "place.hpp"

namespace testcluster::command {

/// Takes requests from the control socket, one at a time: each is one line of JSON, and so is the reply.
class service {
 public:
  /// `lifeline`: the reading end of a pipe on which the process that the cluster belongs to holds the other end; -1:
  /// the cluster belongs to nobody.
  service(ensemble& cluster, const place& where, int lifeline);

  /// Returns when a request, SIGTERM, SIGINT or the end of the lifeline asks the supervisor to end.
  void run();

 private:
  using local = boost::asio::local::stream_protocol;
  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<void> serve(std::shared_ptr<local::socket> peer);
  boost::json::object answer(const std::string& line);
  ensemble& cluster_;
  const place& where_;
  boost::asio::io_context io_;
  local::acceptor acceptor_;
  boost::asio::posix::stream_descriptor lifeline_;
};

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
  void end(std::chrono::milliseconds time_limit);

 private:
  bool await_end(std::chrono::milliseconds time_limit) const;
  void kill();
  detail::descriptor outcome_, lifeline_;
  std::filesystem::path dir_;
  pid_t pid_ = 0;
};

}  // namespace testcluster::command
