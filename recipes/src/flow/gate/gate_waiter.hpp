// A caller that waits for the pass of a key.
#pragma once

#include <memory>
#include <utility>

#include <boost/intrusive/set.hpp>

#include <zkrecipes/detail/gate_key.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "gate/gate_caller.hpp"

namespace zkrecipes::detail {

class gate_state;

/// The table of its shard owns it while it waits (`self`), and it owns the state of its gate. There is no cycle without
/// an end: it waits only behind a processing, which ends, or the execution context is shut down.
class gate_waiter : public boost::intrusive::set_base_hook<>, public std::enable_shared_from_this<gate_waiter> {
 public:
  gate_waiter(std::shared_ptr<gate_state> whose, const gate_key& for_key, gate_caller caller);

  /// Lets a cancellation by the user end the wait. To be called before it waits, because from then on another thread
  /// may end it, and the slot belongs to the user again.
  void listen();

  gate_caller& caller() noexcept { return caller_; }
  const gate_key& key() const noexcept { return key_; }

  lease_clock::time_point due{};      ///< The safety time of the processing in front of it ends.
  std::shared_ptr<gate_waiter> self;  ///< Set while it waits.

  friend bool operator<(const gate_waiter& a, const gate_waiter& b) noexcept { return a.due < b.due; }

 private:
  std::shared_ptr<gate_state> whose_;
  gate_key key_;
  gate_caller caller_;
};

}  // namespace zkrecipes::detail
