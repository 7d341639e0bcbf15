#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

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

}  // namespace testcluster::command
