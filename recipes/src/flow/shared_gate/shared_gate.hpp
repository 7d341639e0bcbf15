// A call that gets in at a shared gate, waits there, or is declined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/flow/shared_gate.hpp>

#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The place of a caller: the line of its bucket, and how those of its key are told from the others of the bucket.
class gate_place {
 public:
  gate_place(const std::string& path, std::int32_t buckets, std::string_view key, arrival how);

  /// The names say hash and arrival: `_c_<guid>-<hash>-first-gate-`, so the list of the bucket is enough to decide.
  line_spec line() const;
  /// The message is declined no more, and covers nobody: it may have a node already.
  void treat_as_redelivered() noexcept { how_ = arrival::redelivered; }

  /// The nearest member of our key ahead of us.
  std::optional<std::size_t> nearest_ahead(std::span<const member> members, std::size_t self) const;

  /// A member that waits ahead of us, and the member of the same key that it waits for.
  struct cover {
    std::size_t ahead;
    std::size_t waiting;
  };
  /// The first member of our key that waits and whose message came for the first time. A redelivered message does not
  /// cover us: it is also that of another node, whose owner may settle it.
  std::optional<cover> find_cover(std::span<const member> members, std::size_t self) const;

 private:
  bool is_of_our_key(const member& each) const;

  std::string bucket_;
  std::string hash_;  // 32 hexadecimal digits between dashes
  arrival how_;
};

/// One call of `shared_gate::async_enter`. A member of the line of its bucket is declined by a transaction: it removes
/// our node on condition that another message waits. The list of the bucket alone would not do, because a member that
/// seems to wait may have been declined itself and be about to go. By the transaction no member that is declined is
/// seen as one that waits: it goes at the moment of the decision.
class gate_entry {
 public:
  gate_entry(core_ptr session, gate_place place, std::string data, time_budget safety)
      : session_(std::move(session)), place_(std::move(place)), data_(std::move(data)), safety_(safety) {}

  awaitable<outcome<shared_gate_pass>> enter();
  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> stand_in_line(waiter& who, bool& again);
  awaitable<error_code> try_decline(waiter& who, const gate_place::cover& by, bool& again);
  blocker who_first() const;

  core_ptr session_;
  gate_place place_;
  std::string data_;
  time_budget safety_;
};

}  // namespace zkrecipes::detail
