// The witness, outside of all recipes, that records which workers are inside: a node that each worker changes when it
// enters or leaves, under the version that it expects.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <zkrecipes/session.hpp>

namespace interop {

/// The Java and the Python worker do exactly the same.
///
/// The node contains `{"writer": NAME or null, "readers": N, "max_readers": N, "last": NAME or null, "hand_offs": N,
/// "turns": {NAME: N}}`. A worker that has to be alone writes once when it enters and once when it leaves, conditional
/// on the version that it saw on entering. Any other change in between is an overlap, and so is another worker inside
/// on entering. Readers may change the node while other readers are inside; a reader that finds a writer is an overlap.
class witness {
 public:
  witness(zkrecipes::session zk, std::string path, std::string name, bool shared);

  /// \throws std::runtime_error "overlap: ..."
  boost::asio::awaitable<void> enter();
  boost::asio::awaitable<void> leave();

  /// The number of turns, up to our own entering, that began after a turn of another worker.
  std::int64_t hand_offs() const noexcept { return hand_offs_; }

 private:
  boost::asio::awaitable<void> enter_alone();
  boost::asio::awaitable<void> leave_alone();
  boost::asio::awaitable<void> count_reader(int change);
  boost::asio::awaitable<std::int32_t> write(boost::json::object record, std::int32_t expected, const char* when);

  zkrecipes::session zk_;
  std::string path_;
  std::string name_;
  bool shared_;
  std::int32_t version_ = 0;  // of the node, for as long as we are alone inside
  std::int64_t hand_offs_ = 0;
};

}  // namespace interop
