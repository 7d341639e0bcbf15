#include "scenario/term_rules.hpp"

#include <algorithm>

#include "election/term_record.hpp"
#include "line/line_spec.hpp"

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

using kind = change::kind;

void term_rules::committed(const entry& what) {
  const bool by_operator = what.type == entry::kind::request && what.session == 0;
  if (by_operator) return record_operator(what);
  const change* record = nullptr;  // one transaction may write it twice: the last one counts
  for (const auto& each : what.changes) {
    if (each.type == kind::set && each.path == election_) record = &each;
    if (each.type == kind::set) check_request(each);
  }
  if (record) check_death(*record, what), check_record(*record), check_retirement(*record, what);
  // After the record: in a transaction that does both the leader retires.
  for (const auto& each : what.changes) {
    if (each.type == kind::create) on_arrival(each.path);
    if (each.type == kind::remove) on_departure(each.path);
  }
  const bool died = what.type == entry::kind::close_session && left_ && candidates_.empty();
  is_orphan_ = is_orphan_ || died;
}

/// Somebody removes a candidate's node, or writes into the record what is none of ours.
void term_rules::record_operator(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.type == kind::remove) on_departure(each.path);
    if (each.type == kind::set && detail::asks_revocation(each.data)) asked_.insert(each.path);
    if (each.type != kind::set || each.path != election_) continue;
    ++overwritten_;
    if (epoch_ > 0) last_epoch_ = epoch_;
    epoch_ = 0;
    leader_node_.clear();
    finished_ = true;
    died_.reset();
  }
}

/// The candidate may not have read it yet.
void term_rules::check_request(const change& what) {
  if (!asked_.contains(what.path)) return;
  in_.require(detail::asks_revocation(what.data), "a request to resign stays", what.data);
}

void term_rules::on_arrival(const std::string& path) {
  if (!path.starts_with(election_ + '/')) return;
  candidates_.insert(path);
  is_orphan_ = false;
}

void term_rules::on_departure(const std::string& path) {
  candidates_.erase(path);
  if (path == election_ + '/' + leader_node_) left_ = in_.clock().now();
}

void term_rules::check_record(const change& what) {
  const auto record = detail::parse_record(what.data);
  in_.require(record.has_value(), "the record can be read", what.data);
  if (!record) return;
  // A successor that takes an operator's write for `retired`, unread, goes on counting.
  const bool goes_on = epoch_ == 0 && overwritten_ && record->epoch == last_epoch_ + 1;
  const bool next = record->epoch == epoch_ + 1 || goes_on;
  const bool same = record->epoch == epoch_ && record->leader_node == leader_node_;
  in_.require(next || same, "epochs increase by one", what.data);
  if (same) in_.require(!finished_, "a finished term stays finished", what.data);
  if (next) in_.require(record->phase == term_phase::inaugurating, "a term begins with its inauguration", what.data);
  if (next)
    in_.require(finished_ || record->how == takeover::forced, "only a forced term cuts another short", what.data);
  if (next && !finished_) check_wait(what.data);
  if (next && died_) check_aftermath(*record, what.data);
  if (!overwritten_) check_history(*record, next, what.data);
  if (next) died_.reset(), aftermath_ = record->aftermath;
  if (next) left_.reset(), deadline_ = record->hand_over_deadline;
  epoch_ = record->epoch;
  leader_node_ = record->leader_node;
  finished_ = record->finished();
}

/// The record tells the last terms, each with its leader and its end.
void term_rules::check_history(const detail::term_record& record, bool is_next, const std::string& text) {
  if (is_next && epoch_ > 0) ended_.push_back({epoch_, leader_id_, record.how, phase_});
  if (ended_.size() > detail::most_ended_terms) ended_.pop_front();
  const auto told = detail::read_history(record, 0);
  const auto is_right = [](const seen_term& seen, const ended_term& term) {
    return seen.epoch == term.epoch && seen.leader == term.leader && seen.outcome() == term.outcome;
  };
  in_.require(std::ranges::equal(ended_, told, is_right), "the record tells the terms before", text);
  leader_id_ = record.leader_id;
  phase_ = record.phase;
}

term_outcome term_rules::seen_term::outcome() const {
  if (last_phase == term_phase::stalled) return term_outcome::stalled;
  if (last_phase == term_phase::died) return term_outcome::died;
  if (last_phase != term_phase::retired) return term_outcome::forced;
  return successor == takeover::confirmed_late ? term_outcome::confirmed_late : term_outcome::retired;
}

/// By a clock that may be fast by one percent.
void term_rules::check_wait(const std::string& record) {
  const bool waited = left_ && (in_.clock().now() - *left_) >= deadline_ * 99 / 100;
  in_.require(waited, "a successor waits out the deadline", record);
}

/// Nobody but a guardian says it, and only of the session that it ends.
void term_rules::check_death(const change& record, const entry& what) {
  const auto written = detail::parse_record(record.data);
  if (!written || written->phase != term_phase::died) return;
  in_.require(in_.is_guarded(what.session), "only the dead are said to have died", record.data);
  died_ = in_.clock().now();
}

/// By a clock that may be fast by one percent.
void term_rules::check_aftermath(const detail::term_record& next, const std::string& text) {
  in_.require(next.how == takeover::died, "a death is taken for nothing else", text);
  in_.require(in_.clock().now() - *died_ >= aftermath_ * 99 / 100, "a successor waits for the aftermath", text);
}

/// In one step: a successor that is woken finds a finished hand-over, and a finished one holds up nobody. A leader that
/// was told that its session has ended writes in its next one: the servers may not have ended the first yet.
void term_rules::check_retirement(const change& record, const entry& what) {
  const auto written = detail::parse_record(record.data);
  if (!written || written->phase != term_phase::retired) return;
  const auto path = election_ + '/' + written->leader_node;
  const bool leaves = std::ranges::any_of(
      what.changes, [&](const change& each) { return each.type == kind::remove && each.path == path; });
  const auto* stands = in_.servers().committed_state().find(path);
  const bool is_writers = stands && stands->stat.ephemeral_owner == what.session;
  in_.require(leaves || !is_writers, "a leader that retires leaves the line", path);
}

void term_rules::inaugurated(int client, std::int64_t epoch, std::int64_t token) {
  const auto who = "client " + std::to_string(client);
  in_.require(tokens_.insert(token).second, "a term has one leader", who);
  // The epochs begin anew behind a record that was overwritten.
  if (!overwritten_) in_.require(inaugurated_.insert(epoch).second, "an epoch has one leader", who);
}

void term_rules::check_quiet(const tree& nodes) {
  in_.require(finished_ || is_orphan_, "the last term is handed over");
  const node* line = nodes.find(election_);
  if (line && !line->children.empty()) in_.fail("no node left", *line->children.begin());
}

}  // namespace zkrecipes::simulation
