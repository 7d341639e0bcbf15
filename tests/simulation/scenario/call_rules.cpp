#include "scenario/call_rules.hpp"

namespace zkrecipes::simulation {

/// `allowed_` is the overlap that two terms may have. It is the difference of two clocks (a fiftieth of the deadline).
/// If the lease is not strict, or nodes or sessions are taken from their owners, the time is added for which an old
/// leader may not know what has happened.
call_rules::call_rules(stage& in, span hand_over_deadline)
    : in_(in),
      deadline_(hand_over_deadline),
      allowed_(deadline_ / 50),
      overlaps_matter_(deadline_ > span(0)),
      careers_(static_cast<std::size_t>(in.what().clients)) {
  const auto& what = in.what();
  if (what.lease != lease_mode::strict || !what.leases_are_kept()) allowed_ += what.longest_ignorance();
}

std::shared_ptr<void> call_rules::begins(int client, const term& present, call what) {
  auto& of = careers_[static_cast<std::size_t>(client)];
  check_order(client, of, present, what);
  check_delay(client, of, what);
  check_overlap(client, present, what);
  of.running = ++calls_;
  of.what = what;
  of.token = present.token();
  of.has_ended = what == call::ended;
  return std::shared_ptr<void>(nullptr, [this, &of, number = of.running, present](void*) {
    if (of.running != number) return;  // its process has been restarted
    of.running = 0;
    of.free_since.reset();
    if (present.ending()) of.free_since = in_.clock().now();
  });
}

void call_rules::check_order(int client, career& of, const term& present, call what) {
  in_.require(of.running == 0, "one call of a career at a time");
  const bool same = of.token == present.token();
  if (what == call::inaugurate) {
    in_.require(of.has_ended, "every term hears of its end");
    in_.require(!same, "a term is inaugurated once");
  } else {
    in_.require(same && !of.has_ended, "nothing is called after the end of a term");
    const bool believes = in_.inside(client).now() < present.valid_until();
    in_.require(believes || what != call::execute, "work begins only in the time of a lease");
  }
}

/// When a call returns in a term that is ending, the next call comes within a millisecond, even without a connection;
/// later only if the process is paused.
void call_rules::check_delay(int client, const career& of, call what) {
  if (!of.free_since || of.has_ended || what == call::inaugurate) return;
  const auto since = *of.free_since;
  const bool at_once = in_.clock().now() - since < 1ms;
  in_.require(at_once || in_.what().is_paused(client, since, in_.clock().now()), "the end of a term is told at once");
}

void call_rules::check_overlap(int client, const term& present, call what) {
  if (what == call::ended) return;
  const auto now = in_.clock().now();
  if (present.token() < newest_token_) {
    const bool late = now - newest_since_ > allowed_ && !in_.what().is_paused(client, newest_since_ - 1ms, now);
    in_.require(!late || !overlaps_matter_, "no call of a term whose successor works");
    return;
  }
  if (what != call::inaugurate) return;
  newest_token_ = present.token();
  newest_since_ = now;
  for (std::size_t i = 0; i < careers_.size(); ++i) {
    const auto other = static_cast<int>(i);
    const auto& each = careers_[i];
    if (other == client || !each.running || each.what == call::ended) continue;
    in_.clock().after(allowed_, [this, other, running = each.running] { expect_end(other, running); });
  }
}

void call_rules::expect_end(int client, std::uint64_t running) {
  const auto& of = careers_[static_cast<std::size_t>(client)];
  if (of.running != running || !overlaps_matter_) return;
  const auto now = in_.clock().now();
  if (in_.what().is_paused(client, now - allowed_ - 1ms, now)) return;
  in_.fail("phases of two terms do not overlap", "client " + std::to_string(client));
}

void call_rules::run_ended(int client) {
  const auto& of = careers_[static_cast<std::size_t>(client)];
  in_.require(of.has_ended && of.running == 0, "every term hears of its end");
}

void call_rules::forget(int client) { careers_[static_cast<std::size_t>(client)] = {}; }

}  // namespace zkrecipes::simulation
