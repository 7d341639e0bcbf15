// The rules that a state can break, and what a settled state is.
#pragma once

#include "state.hpp"
#include "variant.hpp"

namespace model {

/// Two members whose processes run believe at the same time.
bool do_two_believe(const state& what);
/// A member believes while another one's process is stopped that did the same.
bool does_one_sleep_and_believe(const state& what);
/// A write under the fence of a member that is not the owner would be accepted.
bool is_fence_broken(const state& what, const deviations& rules);
/// The order, the record and the belief of one member agree, and no other one is to own the shard.
bool is_settled(const state& what);
bool is_somebody_there(const state& what);

}  // namespace model
