// What became of an attempt to claim an item.
#pragma once

#include <zkrecipes/error.hpp>
#include <zkrecipes/queue_base.hpp>

namespace zkrecipes::detail {

/// The result of an attempt to claim or remove an item. Errors: `node_exists` (another taker has it), `no_node` (it has
/// gone), `busy` (it is delayed, and its time has not come), `session_expired` (nothing is claimed), ...
struct claim_result {
  error_code error;
  bool at_item = false;  ///< The error is due to the item (its rights, nodes below it): it can not be handed out.
  message item;
};

}  // namespace zkrecipes::detail
