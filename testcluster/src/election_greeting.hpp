#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace testcluster::detail {

/// The first message on a connection to an election port: protocol, number of the sender, and the address at
/// which it wants to be called back. A server with a higher number does so, and closes the connection it was
/// called on: past every proxy, unless the address is replaced by that of one.
class election_greeting {
 public:
  /// `callback` empty: everything passes as it is.
  explicit election_greeting(std::string callback)
      : callback_(std::move(callback)), passed_(callback_.empty()) {}

  /// Some bytes of the caller; returns what to pass on.
  std::string pass(std::string_view bytes);

  /// What is left when the stream ends.
  std::string rest() { return std::exchange(pending_, {}); }

 private:
  std::string callback_;
  std::string pending_;
  bool passed_;
};

}  // namespace testcluster::detail
