// The keys of a shard that are being processed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <zkrecipes/detail/gate_key.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

class gate_waiter;

/// A key that is being processed. It has a cache line of its own, because the entries of neighbouring tables are used
/// by other threads.
struct alignas(64) active_key {
  gate_key key;
  std::uint64_t generation = 0;  ///< That of the valid pass. 0: the slot is free.
  lease_clock::time_point start{};
  gate_waiter* waiter = nullptr;
};

/// A hash table with open addressing. Neighbours move up when an entry is erased, so no marks are left behind, and the
/// table is rebuilt only to grow: after that nothing is allocated. (`boost::unordered_flat_map` marks overflowing
/// groups and is rebuilt from time to time because of that, also while the number of its elements stays the same.)
class gate_table {
 public:
  /// The entry of this key, or null.
  active_key* find(const gate_key& key) noexcept;
  const active_key* find(const gate_key& key) const noexcept;
  /// The entry of this key; if there is none, a new one of generation 0, which is to be set. Other entries may move.
  active_key& find_or_insert(const gate_key& key);
  /// Other entries may move.
  void erase(active_key& which) noexcept;

  std::size_t size() const noexcept { return size_; }
  template <class What>
  void for_each(What what) {
    for (auto& each : slots_) {
      if (each.generation != 0) what(each);
    }
  }

 private:
  /// The slot that has this key, or the free one where it belongs.
  std::size_t slot_of(const gate_key& key) const noexcept;
  bool is_full() const noexcept { return 4 * (size_ + 1) > 3 * slots_.size(); }
  void grow();
  std::size_t mask() const noexcept { return slots_.size() - 1; }

  static constexpr std::size_t least = 4;
  std::vector<active_key> slots_ = std::vector<active_key>(least);  // a power of two
  std::size_t size_ = 0;
};

}  // namespace zkrecipes::detail
