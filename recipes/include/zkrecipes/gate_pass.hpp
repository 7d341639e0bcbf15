// The permission to process one key.
#pragma once

#include <cstdint>

#include <zkrecipes/detail/gate_key.hpp>

namespace zkrecipes {

namespace detail {
class gate_shard;
}

/// The permission to process a key, from `gate`. It lasts until it is left or destroyed. At most one pass of a key is
/// valid.
///
/// Move-only. It may outlive its gate, and may be left on any thread. Thread safety: distinct passes are safe; of one
/// pass `valid()` is safe beside itself.
class gate_pass {
 public:
  gate_pass() noexcept = default;  ///< No permission: not valid.
  gate_pass(gate_pass&& other) noexcept;
  gate_pass& operator=(gate_pass&& other) noexcept;  ///< Leaves what was held before.
  ~gate_pass() {
    if (where_) leave();
  }

  /// False once it was left or moved from, and once another caller has got in because this processing took longer than
  /// `gate_options::safety`. This is a snapshot: the pass can become invalid right after the look, if it has been held
  /// for that long. Costs a look-up in memory.
  bool valid() const noexcept;

  /// Ends the processing: the caller that waits for the key gets in. Nothing happens if the pass is not valid any more;
  /// the pass of a successor stays as it is.
  void leave() noexcept;

 private:
  friend class detail::gate_shard;
  gate_pass(detail::gate_shard& where, const detail::gate_key& key, std::uint64_t generation) noexcept
      : where_(&where), key_(key), generation_(generation) {}

  detail::gate_shard* where_ = nullptr;
  detail::gate_key key_;
  std::uint64_t generation_ = 0;
};

}  // namespace zkrecipes
