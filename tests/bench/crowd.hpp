// Many acquisitions that wait for one lock, in one session.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace bench {

class crowd {
 public:
  /// The lock's path must exist, without a node below it.
  crowd(zkrecipes::session zk, std::string path) : zk_(std::move(zk)), path_(std::move(path)) {}

  /// Gets `waiting` acquisitions into the line, behind one that holds the lock.
  boost::asio::awaitable<void> gather(std::size_t waiting);
  /// Releases the lock `times` times; each release lets the next acquisition in.
  boost::asio::awaitable<void> hand_on(std::size_t times);

 private:
  void join();
  boost::asio::awaitable<void> await_owners(std::size_t count);

  zkrecipes::session zk_;
  std::string path_;
  std::vector<zkrecipes::ownership> owners_;  // in order; all but the last one have released
};

/// Measures a process in which `waiting` acquisitions wait. Returns one line of JSON,
/// `{"threads": 1, "mebibytes": 12.3, "whole": 15.6}`: `whole` is its peak memory, `mebibytes` the same less the memory
/// that the process had with a connected session before.
std::string measure_waiting(const zkrecipes::session_options& by, std::size_t waiting);

}  // namespace bench
