#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace testcluster::detail {

/// Splits a byte stream into frames of ZooKeeper's protocol. Other streams (four-letter words) pass unchanged.
class frame_splitter {
 public:
  void add(std::string_view bytes) { pending_ += bytes; }

  /// The next complete frame with its length in front; nothing if it is not complete yet.
  std::optional<std::string> next();

  /// The bytes that do not make a complete frame, to be passed on when the stream ends.
  std::string rest() { return std::exchange(pending_, {}); }
  bool opaque() const { return opaque_; }

 private:
  std::string pending_;
  bool opaque_ = false;
};

}  // namespace testcluster::detail
