// The protocol, and deviations from it that are planted.
#pragma once

#include <string>
#include <vector>

namespace model {

/// What differs from the protocol.
struct deviations {
  bool pauses = false;                ///< Processes may be stopped for longer than their leases.
  bool is_unfenced = false;           ///< Effects of a member do not depend on the version of the record.
  bool keeps_believing = false;       ///< Belief lasts until the answer to the retirement.
  bool forces_the_living = false;     ///< A claim does not ask whether the owner has ended.
  bool asks_too_early = false;        ///< It asks before it reads who the owner is.
  bool claims_blindly = false;        ///< A claim does not name the version.
  bool retires_blindly = false;       ///< A retirement does not name the version.
  bool takes_up_handed_over = false;  ///< A term goes on that was handed over, if the record still names its owner.
  bool reuses_names = false;          ///< A member that starts again has the name of the former one.
  bool looks_only_by_order = false;   ///< A member reads no record of a shard that its inbox does not list.
  bool ignores_own_name = false;      ///< A member waits if the record names it and it is in no term.
  bool unfenced_planner = false;      ///< Orders of a planner of an earlier epoch are executed.
  bool members_first = false;         ///< A planner reads the list of members before the inboxes.
};

/// What the search has to find.
enum class verdict {
  holds,        ///< Nothing wrong.
  two_believe,  ///< Two members believe at the same time, and the processes of both run.
  fence_fails,  ///< A write of a member that is not the owner would be accepted.
  gets_stuck,   ///< From some state no settled one can be reached.
  fence_holds   ///< A member sleeps and believes beside the owner, and only writes of the owner are accepted.
};
const char* to_text(verdict what);

struct variant {
  std::string name;
  std::string text;
  deviations rules;
  verdict expected = verdict::holds;
};

/// The protocol comes first.
const std::vector<variant>& variants();
const variant& variant_of(const std::string& name);

}  // namespace model
