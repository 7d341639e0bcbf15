// A call that gets in at a shared gate, waits there, or is declined.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/flow/shared_gate.hpp>

#include "line/waiter.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "shared_gate/gate_place.hpp"

namespace zkrecipes::detail {

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
