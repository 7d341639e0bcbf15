// What a member does, and what the server does with its writes.
#include "moment.hpp"

namespace model {

namespace {

void forget_record(member& self) {
  self.seen = unknown;
  self.is_current = false;
  self.is_over = false;
}

}  // namespace

void moment::member_steps(int i) {
  joins(i);
  lapses(i);
  resumes(i);
  ends(i);
  falls_asleep(i);
  wakes(i);
  reads_inbox(i);
  reads_record(i);
  asks_for_owner(i);
  is_told_who_has_ended(i);
  claims(i);
  takes_up_own_term(i);
  hands_over(i);
  claim_is_executed(i);
  retirement_is_executed(i);
  answer_arrives(i);
  gives_up_waiting(i);
  late_claim_is_executed(i);
  late_retirement_is_executed(i);
}

/// It creates its member node and its inbox, which is empty.
void moment::joins(int i) {
  const auto is = now_.members[i].is;
  const bool is_next = is == life::absent || (is == life::ended && rules_.reuses_names);
  if (is_next) add("joins", i, {.is = life::alive}, true);
}

/// It stops to believe, as it has no lease. It may still be in its term.
void moment::lapses(int i) {
  auto self = now_.members[i];
  if (self.is != life::alive) return;
  self.is = life::lapsed;
  add("loses its lease", i, self, true);
}

void moment::resumes(int i) {
  auto self = now_.members[i];
  if (self.is != life::lapsed) return;
  self.is = life::alive;
  add("has a lease again", i, self);
}

/// The server ends the session: its nodes go, and what it has sent is not executed any more.
void moment::ends(int i) {
  if (now_.members[i].is == life::lapsed) add("has ended", i, {.is = life::ended});
}

/// For a member without a term it would be the same as to end.
void moment::falls_asleep(int i) {
  auto self = now_.members[i];
  if (!rules_.pauses || self.is != life::alive || !self.in_term) return;
  self.is = life::asleep;
  self.inbox = false;
  self.sent = request::none;
  self.late_claim = self.late_retirement = false;
  add("sleeps until its session has ended", i, self, true);
}

void moment::wakes(int i) {
  if (now_.members[i].is == life::asleep) add("wakes, and hears that it has ended", i, {.is = life::ended});
}

void moment::reads_inbox(int i) {
  auto self = now_.members[i];
  if (self.is != life::alive || self.order == self.inbox) return;
  self.order = self.inbox;
  add(self.order ? "reads that it is to own the shard" : "reads that it is not to own the shard", i, self);
}

bool moment::is_idle(int i) const {
  const auto& self = now_.members[i];
  return self.is == life::alive && self.sent == request::none;
}

void moment::reads_record(int i) {
  auto self = now_.members[i];
  const bool is_over = now_.owner == i && now_.is_over;
  const bool is_news = !self.is_current || self.is_over != is_over;
  const bool has_reason = self.order || self.in_term || !rules_.looks_only_by_order;
  if (!is_idle(i) || !is_news || !has_reason) return;
  self.seen = now_.owner;
  self.is_current = true;
  self.is_over = is_over;
  if (now_.owner != i) self.in_term = false;
  add("reads the record", i, self);
}

/// Only after it has read who the owner is: a member that has not been found before may have joined meanwhile.
bool moment::would_ask_for(int i, int other) const {
  return other != i && (now_.members[i].seen == other || rules_.asks_too_early);
}

void moment::asks_for_owner(int i) {
  if (!is_idle(i)) return;
  for (int other = 0; other < how_.size.members; ++other) {
    auto self = now_.members[i];
    const bool is_gone = !now_.members[other].has_node();
    if (!would_ask_for(i, other) || !is_gone || has(self.gone, other)) continue;
    self.gone |= only(other);
    add("does not find the owner's member node", i, self);
  }
}

/// A planner that has seen a member, and does not see it any more, may tell others with their orders.
void moment::is_told_who_has_ended(int i) {
  if (now_.members[i].is != life::alive) return;
  for (int other = 0; other < how_.size.members; ++other) {
    auto self = now_.members[i];
    const auto is = now_.members[other].is;
    const bool has_ended = is == life::ended || is == life::asleep;
    if (!has_ended || has(self.gone, other)) continue;
    self.gone |= only(other);
    add("is told that a member has ended", i, self);
  }
}

bool moment::may_claim_from(int i, int owner) const {
  if (owner == unknown) return false;
  if (owner == no_owner) return true;
  if (owner == i) return !rules_.ignores_own_name;
  return has(now_.members[i].gone, owner) || rules_.forces_the_living;
}

void moment::claims(int i) {
  auto self = now_.members[i];
  if (!is_idle(i) || self.in_term || !self.order || !may_claim_from(i, self.seen)) return;
  self.sent = request::claim;
  add("claims the shard", i, self);
}

/// Its claim was executed, and it has not heard. A term that it has handed over is not taken up again: the retirement
/// may be executed any time. That one needs another claim.
void moment::takes_up_own_term(int i) {
  auto self = now_.members[i];
  const bool is_own = self.seen == i && (!self.is_over || rules_.takes_up_handed_over);
  if (!is_idle(i) || self.in_term || !self.order || !is_own || rules_.ignores_own_name) return;
  self.in_term = true;
  add("finds its own name in the record, and begins its term", i, self);
}

/// It stops to believe, and then sends the retirement: by order, or because its term ends for reasons of its own. It
/// also retires what a late claim has made it own, and what a lost retirement has left.
void moment::hands_over(int i) {
  auto self = now_.members[i];
  const bool is_left_over = !self.order && !rules_.ignores_own_name;
  if (!is_idle(i) || self.seen != i || !(self.in_term || is_left_over)) return;
  self.in_term = self.in_term && rules_.keeps_believing;
  self.is_over = true;
  self.sent = request::retirement;
  add("hands over, and sends its retirement", i, self, self.order);
  if (self.is_current) steps_.back().after.is_over = true;
}

void moment::claim_is_executed(int i) {
  auto self = now_.members[i];
  if (!self.has_node() || self.sent != request::claim) return;
  const bool is_accepted = self.is_current || rules_.claims_blindly;
  if (!is_accepted) return is_refused("is not the owner: its claim is refused", i);
  self.sent = request::claim_done;
  add_write("is the owner: its claim is executed", i, self, i);
  knows_own_write(i);
}

void moment::retirement_is_executed(int i) {
  auto self = now_.members[i];
  if (!self.has_node() || self.sent != request::retirement) return;
  const bool is_accepted = self.is_current || rules_.retires_blindly;
  if (!is_accepted) return is_refused("has not retired: its write is refused", i);
  self.sent = request::retirement_done;
  add_write("has retired: its write is executed", i, self, no_owner);
  knows_own_write(i);
}

void moment::is_refused(const char* does, int i) {
  auto self = now_.members[i];
  self.sent = request::refused;
  forget_record(self);
  add(does, i, self);
}

/// It acts on that when it has the answer.
void moment::knows_own_write(int i) {
  auto& next = steps_.back().after;
  auto& self = next.members[i];
  if (self.in_term) return;  // a variant: it believes in the version before
  self.seen = next.owner;
  self.is_current = true;
  self.is_over = false;
}

void moment::answer_arrives(int i) {
  auto self = now_.members[i];
  if (!self.has_node()) return;
  switch (self.sent) {
    case request::claim_done: self.in_term = true; break;
    case request::retirement_done: self.in_term = false; break;
    case request::refused: break;
    default: return;
  }
  self.sent = request::none;
  add("has the answer to its write", i, self);
}

/// The connection has broken. A write that is not executed yet may have been lost, or may still be executed at any
/// later moment, even when the member has looked again through another server.
void moment::gives_up_waiting(int i) {
  auto self = now_.members[i];
  if (!self.has_node() || self.sent == request::none) return;
  self.late_claim |= self.sent == request::claim && (self.is_current || rules_.claims_blindly);
  self.late_retirement |= self.sent == request::retirement && (self.is_current || rules_.retires_blindly);
  self.sent = request::none;
  self.in_term = false;
  forget_record(self);
  add("gives up waiting for an answer", i, self, true);
}

void moment::late_claim_is_executed(int i) {
  auto self = now_.members[i];
  if (!self.has_node() || !self.late_claim) return;
  self.late_claim = false;
  add_write("is the owner: a late claim is executed", i, self, i);
}

void moment::late_retirement_is_executed(int i) {
  auto self = now_.members[i];
  if (!self.has_node() || !self.late_retirement) return;
  self.late_retirement = false;
  add_write("has retired: a late write is executed", i, self, no_owner);
}

}  // namespace model
