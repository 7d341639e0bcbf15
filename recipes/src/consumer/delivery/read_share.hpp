// How much the readers of one object may read ahead together.
#pragma once

#include <cstddef>

namespace zkrecipes::detail {

/// The bytes are shared equally by those that read, however many shards a process has. On the strand.
class read_share {
 public:
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;

  void join() noexcept { ++readers_; }
  void leave() noexcept { --readers_; }
  std::size_t bytes() const noexcept { return most_bytes / (readers_ > 0 ? readers_ : 1); }

 private:
  std::size_t readers_ = 0;
};

}  // namespace zkrecipes::detail
