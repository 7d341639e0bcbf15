#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace testcluster::detail {

/// The rules by which requests and replies are lost, on all connections of one proxy.
class drop_rules {
 public:
  enum class what { request, reply };

  void add(what lost, std::int32_t op_code, int k) { rules_.push_back({lost, op_code, k}); }
  void clear() { rules_.clear(); }

  /// One text per rule, such as "drop-reply create2 1". The number counts down: 1 means that the next such request is
  /// hit.
  std::vector<std::string> describe() const;

  /// Counts a request. True if a rule wants this request to be lost in the given way.
  bool hit(what lost, std::int32_t op_code);

  /// To be called when a request or a reply has been lost.
  void done() { ++drops_; }
  std::size_t drops() const { return drops_; }

 private:
  struct rule {
    what lost;
    std::int32_t op_code;
    int left;
  };
  std::vector<rule> rules_;
  std::size_t drops_ = 0;
};

}  // namespace testcluster::detail
