// The outside witness of who is inside: a node that everybody who enters or leaves changes under the version
// it expects.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <string>

namespace interop {

/// The Java and the Python worker do the same, word for word.
///
/// The node says `{"writer": NAME or null, "readers": N, "most_readers": N, "last": NAME or null,
/// "hand_offs": N, "turns": {NAME: N}}`. Entering and leaving alone are one write each, conditional on the
/// version seen on entering: any other change in between is an overlap, and so is finding somebody inside.
/// Readers may change it around each other; a reader that finds a writer is an overlap.
class witness {
 public:
  witness(zkrecipes::session zk, std::string path, std::string name, bool shared);

  /// \throws std::runtime_error "overlap: ..."
  boost::asio::awaitable<void> enter();
  boost::asio::awaitable<void> leave();

  /// Turns that began after somebody else's, as of our entering.
  std::int64_t hand_offs() const noexcept { return hand_offs_; }

 private:
  boost::asio::awaitable<void> enter_alone();
  boost::asio::awaitable<void> leave_alone();
  boost::asio::awaitable<void> count_reader(int change);
  boost::asio::awaitable<std::int32_t> write(boost::json::object record, std::int32_t expected,
                                             const char* when);

  zkrecipes::session zk_;
  std::string path_;
  std::string name_;
  bool shared_;
  std::int32_t version_ = 0;  // that the node has for as long as we are alone inside
  std::int64_t hand_offs_ = 0;
};

}  // namespace interop
