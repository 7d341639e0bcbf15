// The node at the path of a shared gate: it says by how many buckets the callers have agreed to hash.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/diagnostic.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Callers with another number of buckets would look for a key in another bucket, and two would process it. So the
/// number is stored with the gate, and each gate object compares its own once, before its first caller gets a node.
class gate_root : public std::enable_shared_from_this<gate_root> {
 public:
  static constexpr std::int32_t max_buckets = 1024;

  gate_root(core_ptr session, std::string path, std::int32_t buckets)
      : session_(std::move(session)), path_(std::move(path)), buckets_(buckets) {}

  /// Sees that the node has our number, and writes ours if it has none. Waits for a connection without a limit, as the
  /// create of a caller does. Errors: `size_mismatch`, `foreign_data`, `no_auth`, `no_node` (a parent was removed, or
  /// the root of the session is missing), and those of `core::perform`; the next call looks again then.
  awaitable<error_code> agree(diagnostic why);
  /// Another recipe stands in this bucket.
  error_code refuse_bucket(const std::string& bucket, const diagnostic& why) const;

  const core_ptr& session() const noexcept { return session_; }
  const std::string& path() const noexcept { return path_; }
  std::int32_t buckets() const noexcept { return buckets_; }

 private:
  /// One look, and all that wait for it: those that were there when it began. It belongs to none of them, so the
  /// cancellation of one leaves it to the others.
  struct shared_look {
    explicit shared_look(scheduler_ptr on) : changed(std::move(on)) {}
    bool is_over = false;
    error_code error{};
    diagnostic why{};
    condition changed;
  };

  static awaitable<void> look_for_all(std::shared_ptr<gate_root> self);
  awaitable<error_code> look(diagnostic why);
  awaitable<outcome<backend::reply>> read();
  awaitable<error_code> make();
  awaitable<error_code> claim(node_stat found, diagnostic why);
  error_code judge(const std::string& data, const diagnostic& why) const;
  error_code judge_children(const std::vector<std::string>& names, const diagnostic& why) const;
  error_code refuse_node(std::string_view because, const diagnostic& why) const;
  std::string record() const;

  const core_ptr session_;
  const std::string path_;
  const std::int32_t buckets_;
  bool agreed_ = false;
  bool looking_ = false;
  std::shared_ptr<shared_look> next_;  // the look that has not begun
};

}  // namespace zkrecipes::detail
