// Many reads at once, so that a server that throttles refuses requests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <zkrecipes/session.hpp>

namespace zkrecipes::test {

class read_burst {
 public:
  explicit read_burst(session over) : over_(std::move(over)) {}

  /// Begins the next burst when half of the one before it is answered, so there are always requests that wait. It is
  /// twice as large, so at last any server refuses some.
  void keep_up() {
    if (*under_way_ > reads_ / 2) return;
    reads_ = std::min(2 * reads_, most_reads);
    *under_way_ += reads_;
    for (std::size_t i = 0; i < reads_; ++i) {
      over_.async_exists("/", [left = under_way_](error_code, const node_stat&) { --*left; });
    }
  }
  bool is_over() const noexcept { return *under_way_ == 0; }

 private:
  static constexpr std::size_t most_reads = 8'000;

  session over_;
  std::size_t reads_ = 250;
  std::shared_ptr<std::size_t> under_way_ = std::make_shared<std::size_t>(0);
};

}  // namespace zkrecipes::test
