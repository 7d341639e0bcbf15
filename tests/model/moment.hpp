// The protocol of a shard group: the steps that are possible in a state.
//
// The model has one shard with its record, two or three members, and one or two planners. A step is one thing that one
// of them, or the server for it, does without interruption, and the search tries the steps in every order. A look, the
// write that follows from it, its execution by the server, and its answer are separate steps, so anything may happen
// between them: a lease lapses, a session ends, another planner begins.
//
// - A member reads its inbox and the record, in any order and at any time, whatever the inbox lists. It claims the
//   shard if its inbox lists it, and the record has no owner, or names an incarnation that has ended, or names the
//   member itself. An incarnation has ended if the member has not found its node after it read the record, or if a
//   planner that saw it before does not see it any more, and has told so. A member hands over what its inbox does not
//   list, and at times what it lists, because a term can end for reasons of its own. It stops to believe before it
//   sends the retirement.
// - The server executes a write if the record still has the version that the writer knows. The answer may come late or
//   never. A member that has given up waiting goes on, and the write may still be executed at any later moment, until
//   the record has another version or the session ends.
// - A planner looks at the inboxes and at the list of members, chooses an owner, and writes inboxes. When the next
//   planner has begun, the former one goes on, and its writes are refused.
//
// The model leaves out the following, and nothing is lost by that:
//
// - Other shards. Shards have only the inboxes in common, and no step trusts an inbox.
// - Versions of the record as numbers. The server only compares them. So what a member knows of the record has one more
//   bit: whether the record is still the same. Only the execution of a write looks at it.
// - Time. A strict lease promises that it lapses before the server removes the member node: these are steps in this
//   order. The hand-over deadline only makes a claim later, and any step may be late.
// - A member that leaves. For the others it is the same as a lease that lapses and a session that ends.
// - The policy of the plan. A planner may choose any member that it has seen, and writes the inboxes one by one, in any
//   order.
//
// Operators are left out, too, and with them something is lost: if they delete the node of a member that lives, its
// shards are claimed while it believes, and only the fence counts, as with a process that sleeps.
#pragma once

#include <string>
#include <vector>

#include "state.hpp"

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

struct setup {
  group_size size;
  deviations rules;
};

struct step {
  const char* who = "";
  int index = 0;
  const char* does = "";
  /// Something fails, begins, or is rearranged. A shard has to settle without such steps.
  bool is_trouble = false;
  state after;
};
std::string to_text(const step& what);

class moment {
 public:
  moment(const setup& how, const state& now) : how_(how), rules_(how.rules), now_(now) {}

  /// Everything that may happen next.
  std::vector<step> steps();

 private:
  void add(const char* does, int i, const member& after, bool is_trouble = false);
  void add(const char* does, int k, const planner& after, bool is_trouble = false);
  void add_write(const char* does, int i, const member& after, int owner);

  // The life of a member.
  void joins(int i);
  void lapses(int i);
  void resumes(int i);
  void ends(int i);
  void falls_asleep(int i);
  void wakes(int i);

  // A member looks.
  void reads_inbox(int i);
  void reads_record(int i);
  void asks_for_owner(int i);
  bool would_ask_for(int i, int other) const;
  void is_told_who_has_ended(int i);

  // A member begins a term and ends it.
  void claims(int i);
  void takes_up_own_term(int i);
  void hands_over(int i);
  bool is_idle(int i) const;
  bool may_claim_from(int i, int owner) const;

  // What becomes of a member's write.
  void claim_is_executed(int i);
  void retirement_is_executed(int i);
  void knows_own_write(int i);
  void is_refused(const char* does, int i);
  void answer_arrives(int i);
  void gives_up_waiting(int i);
  void late_claim_is_executed(int i);
  void late_retirement_is_executed(int i);

  // A planner.
  void begins(int k);
  void looks(int k);
  void chooses_heir(int k, member_set there, member_set listed);
  void writes_inboxes(int k);
  void writes_inbox(int k, int i);
  template <class Property>
  member_set members_with(Property what) const;
  bool has_right_inbox(int k, int i) const;

  void member_steps(int i);
  void planner_steps(int k);

  const setup& how_;
  const deviations& rules_;
  const state& now_;
  std::vector<step> steps_;
};

}  // namespace model
