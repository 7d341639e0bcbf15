// The keys of a shard that are being processed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <zkrecipes/detail/gate_key.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

class gate_waiter;

/// A key that is being processed.
struct active_key {
  gate_key key;
  std::uint64_t generation = 0;  ///< That of the valid pass. 0: the slot is free.
  lease_clock::time_point start{};
  gate_waiter* waiter = nullptr;
};

/// The first key stands in the table itself, and so in the cache line of its shard: with many shards there is seldom
/// another. The others are in a hash table with open addressing. Neighbours move up when an entry is erased, so no
/// marks are left behind, and it is rebuilt only to grow: after that nothing is allocated. (`boost::unordered_flat_map`
/// marks overflowing groups and is rebuilt from time to time because of that, also while the number of its elements
/// stays the same.)
class gate_table {
 public:
  /// The entry of this key, or null.
  active_key* find(const gate_key& key) noexcept {
    if (first_.generation != 0 && first_.key == key) return &first_;
    return others_ == 0 ? nullptr : find_other(key);
  }
  /// The entry of this key; if there is none, a new one of generation 0, which is to be set. Other entries may move.
  active_key& find_or_insert(const gate_key& key) {
    if (auto* there = find(key)) return *there;
    if (first_.generation != 0) return insert_other(key);
    first_.key = key;
    return first_;
  }
  /// Other entries may move.
  void erase(active_key& which) noexcept {
    if (&which == &first_) {
      first_ = active_key();
    } else {
      erase_other(which);
    }
  }

  std::size_t size() const noexcept { return others_ + (first_.generation != 0 ? 1 : 0); }

 private:
  /// The slot that has this key, or the free one where it belongs.
  std::size_t slot_of(const gate_key& key) const noexcept;
  active_key* find_other(const gate_key& key) noexcept;
  active_key& insert_other(const gate_key& key);
  void erase_other(active_key& which) noexcept;
  bool is_full() const noexcept { return 4 * (others_ + 1) > 3 * slots_.size(); }
  void grow();
  std::size_t mask() const noexcept { return slots_.size() - 1; }

  static constexpr std::size_t least = 4;
  active_key first_;
  std::size_t others_ = 0;         // in `slots_`
  std::vector<active_key> slots_;  // none, or a power of two
};

}  // namespace zkrecipes::detail
