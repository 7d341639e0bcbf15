// Judges whether calls keep within a rate with a burst.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::test {

/// Judges by a bucket that loses its content at the rate: over every window that ends now the bound holds exactly if
/// the content is a burst at most. It counts in whole numbers, a unit of cost as `per` in nanoseconds.
class bound_judge {
 public:
  bound_judge(std::int64_t rate, std::chrono::nanoseconds per, std::int64_t burst)
      : rate_(rate), unit_(per.count()), most_(burst * per.count()) {}

  /// False if this call is beyond the bound. Calls come in the order of their times.
  bool add(lease_clock::time_point now, std::int64_t cost) {
    const auto pause = std::min<std::int64_t>((now - last_).count(), most_ / rate_ + 1);
    content_ = std::max<std::int64_t>(0, content_ - pause * rate_) + cost * unit_;
    last_ = now;
    return content_ <= most_;
  }
  std::int64_t content() const { return content_; }

 private:
  std::int64_t rate_;
  std::int64_t unit_;
  std::int64_t most_;
  std::int64_t content_ = 0;
  lease_clock::time_point last_;
};

}  // namespace zkrecipes::test
