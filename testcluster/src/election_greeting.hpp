#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace testcluster::detail {

/// Replaces the address in the first message on a connection to an election port. This message contains the protocol
/// version, the number of the sending server, and the address at which that server can be called back. A server with a
/// higher number closes the connection and calls back. Without the replacement, this new connection would bypass every
/// proxy.
class election_greeting {
 public:
  /// `callback` empty: everything passes unchanged.
  explicit election_greeting(std::string callback) : callback_(std::move(callback)), passed_(callback_.empty()) {}

  /// Takes bytes from the connecting server; returns the bytes to pass on.
  std::string pass(std::string_view bytes);

  /// The bytes that were held back, to be passed on when the stream ends.
  std::string rest() { return std::exchange(pending_, {}); }

 private:
  std::string callback_;
  std::string pending_;
  bool passed_;
};

}  // namespace testcluster::detail
