#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drop_rules.hpp"

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

/// The bytes to pass on, and whether to close the connection after them.
struct verdict {
  std::string pass;
  bool cut = false;
};

/// Watches one connection and decides which bytes pass.
class frame_filter {
 public:
  explicit frame_filter(drop_rules& rules) : rules_(rules) {}
  verdict requests(std::string_view bytes);
  verdict replies(std::string_view bytes);
  std::string rest_of_requests() { return requests_.rest(); }
  std::string rest_of_replies() { return replies_.rest(); }

 private:
  bool lose_request(const std::string& frame);
  bool lose_reply(const std::string& frame);
  drop_rules& rules_;
  frame_splitter requests_;
  frame_splitter replies_;
  bool connect_request_seen_ = false;
  bool connect_reply_seen_ = false;
  bool lose_connect_reply_ = false;
  std::vector<std::int32_t> replies_to_lose_;  // by xid
};

}  // namespace testcluster::detail
