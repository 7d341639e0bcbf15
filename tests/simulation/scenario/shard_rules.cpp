#include "scenario/shard_rules.hpp"

#include <algorithm>
#include <sstream>

#include "election/term_record.hpp"
#include "shards/shard_holding.hpp"

namespace zkrecipes::simulation {

using kind = change::kind;

namespace {

std::optional<std::uint32_t> record_of(const std::string& path) {
  return detail::parse_shard_name(child_of(group_paths().records(), path));
}

bool puts_in_quarantine(const entry& what, std::uint32_t shard) {
  return std::ranges::any_of(what.changes, [&](const change& each) {
    return each.type == kind::create && each.path == group_paths().quarantine(shard);
  });
}

}  // namespace

void shard_rules::committed(const entry& what) {
  of_shards<const change*> written{};  // one transaction may write a record twice: the last one counts
  for (const auto& each : what.changes) {
    const auto shard = record_of(each.path);
    if (shard && is_by_operator(what)) record_operator(*shard, what, each);
    if (shard && !is_by_operator(what)) {
      if (each.type == kind::remove) {  // the planner removes foreign data
        in_.require(!of(*shard).is_good, "a record that can be read stays", each.path);
        record_operator(*shard, what, each);
      }
      if (each.type == kind::create) of(*shard).is_good = true;
      if (each.type == kind::set) written[*shard] = &each;
    }
  }
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    if (written[shard]) check_record(shard, what, written[shard]->data);
    for (const auto& each : what.changes) {
      if (each.path == effects_path(shard) && each.type == kind::set) check_effect(shard, each.data);
    }
    if (puts_in_quarantine(what, shard) && !is_by_operator(what)) check_quarantine(shard);
  }
}

void shard_rules::record_operator(std::uint32_t shard, const entry& what, const change& each) {
  auto& record = of(shard);
  const auto parsed = each.type == kind::remove ? std::nullopt : detail::parse_record(each.data);
  ++edits_;
  record_emptied(record, what);
  record.is_good = parsed.has_value();
  if (each.type == kind::remove) record.removed = what.zxid;
}

/// No term is known any more.
void shard_rules::record_emptied(shard_state& record, const entry& what) {
  record.is_good = true;
  record.edited = what.zxid;
  record.epoch = record.last_kept = record.endings = record.kills = 0;
  record.has_failed = false;
  record.leader.clear();
  record.finished = true;
  record.phase = term_phase::none;
}

void shard_rules::check_record(std::uint32_t shard, const entry& what, const std::string& data) {
  auto& present = of(shard);
  const bool is_emptied = !present.is_good && data.empty();  // what somebody else has written
  if (is_emptied) return record_emptied(present, what);
  const auto record = detail::parse_record(data);
  in_.require(record.has_value(), "the record can be read", data);
  if (!record) return;
  in_.notes().note(journal::ensemble, "record", data);
  if (is_coincidence(present, *record)) return record_coincidence(present, what, *record);
  const bool next = record->epoch == present.epoch + 1;
  const bool same = record->epoch == present.epoch && record->leader_node == present.leader;
  in_.require(next || same, "epochs increase by one", data);
  const bool is_quarantine = puts_in_quarantine(what, shard);
  if (is_quarantine) in_.require(next && record->finished(), "nobody leads a shard in quarantine", data);
  if (same) in_.require(!present.finished, "a finished term stays finished", data);
  if (next) check_beginning(shard, what, *record, is_quarantine);
  if (same) check_deaths(shard, what, *record);
  const bool is_dead = record->phase == term_phase::died;
  in_.require(!is_dead || in_.is_guarded(what.session), "only the dead are said to have died", data);
  present.deaths = record->deaths;
  present.epoch = record->epoch;
  present.phase = record->phase;
  present.has_executed = (same && present.has_executed) || record->phase == term_phase::executing;
  present.leader = record->leader_node;
  present.finished = record->finished();
}

/// Behind a removal the versions of the record begin anew, and may coincide with those that an earlier term knows.
bool shard_rules::is_coincidence(const shard_state& present, const detail::term_record& written) {
  return written.leader_token != 0 && written.leader_token < present.removed;
}

/// Terms that have begun since do not count either: their record says that they are over.
void shard_rules::record_coincidence(shard_state& present, const entry& what, const detail::term_record& written) {
  ++edits_;
  present.edited = present.removed = what.zxid;
  present.epoch = written.epoch;
  present.phase = written.phase;
  present.leader = written.leader_node;
  present.finished = written.finished();
  present.endings = present.deaths = written.deaths;  // it tells those of its own past
  present.has_failed = false;
}

/// The writer is a member; the owner before has retired, or its incarnation has ended.
/// A quarantine is a term that ends with its beginning.
void shard_rules::check_beginning(std::uint32_t shard, const entry& what, const detail::term_record& next,
                                  bool is_quarantine) {
  auto& before = of(shard);
  const auto name = detail::member_of(next);
  const auto text = detail::shard_name(shard) + " by " + next.leader_node;
  const auto& members = orders_.state().members();
  const auto found = members.find(name);
  in_.require(is_quarantine || next.phase == term_phase::inaugurating, "a term begins with its inauguration", text);
  in_.require(found != members.end() && !found->second.gone && found->second.session == what.session,
              "an owner is a member", text);
  in_.require(before.finished || next.how == takeover::forced, "only a forced term cuts another short", text);
  if (!before.finished) {
    detail::term_record last;
    last.leader_node = before.leader;
    const auto member = detail::member_of(last);
    in_.require(member == name || !orders_.state().is_there(member),
                "a shard changes hands only behind its owner's last write or end", text + " from " + before.leader);
    if (member != name) check_wait(before, member, text);
  }
  const bool is_taken_for_dead = is_quarantine || next.how == takeover::died;
  in_.require(before.phase != term_phase::died || is_taken_for_dead, "a death is taken for nothing else", text);
  const bool is_forced = next.how == takeover::forced || next.how == takeover::died;
  if (is_forced && !is_quarantine) ++before.endings;
  before.deadline = next.hand_over_deadline;
  before.began = what.zxid;
  before.since = in_.clock().now();
  before.owners[what.zxid] = name;
  before.has_failed = false;  // the term that it was of can write nothing more
  orders_.begun(shard, name);
}

/// Deaths are forgotten with an effect, or by a term that lasts or ends in order.
void shard_rules::check_deaths(std::uint32_t shard, const entry& what, const detail::term_record& next) {
  auto& present = of(shard);
  // A career that fails is told by the last write of its term. What it had committed may be executed in between.
  const bool is_told =
      next.deaths > present.deaths && (std::exchange(present.has_failed, false) || !present.has_executed);
  if (is_told) present.endings = std::max(present.endings, next.deaths);
  if (next.deaths >= present.deaths) return;
  const bool has_effect =
      std::ranges::any_of(what.changes, [&](const change& e) { return e.path == effects_path(shard); });
  const bool has_lasted = in_.clock().now() - present.since >= calm_ * 98 / 100;
  const bool has_ended = next.phase == term_phase::retired;
  in_.require(has_effect || has_lasted || has_ended, "deaths are forgotten for a reason", detail::shard_name(shard));
  present.endings = present.kills = 0;
}

/// By a clock that may be fast by one percent.
void shard_rules::check_wait(const shard_state& before, const std::string& member, const std::string& text) {
  const auto& members = orders_.state().members();
  const auto found = members.find(member);
  if (found == members.end() || !found->second.gone) return;
  const auto waited = in_.clock().now() - *found->second.gone;
  in_.require(waited >= before.deadline * 98 / 100, "a successor waits out the deadline",
              text + " after " + std::to_string(waited / std::chrono::milliseconds(1)) + " ms");
}

/// As many terms in a row have ended badly. The one that is cut short by the quarantine is one of them. The next one
/// puts the shard there again.
void shard_rules::check_quarantine(std::uint32_t shard) {
  auto& record = of(shard);
  in_.require(record.endings + 1 >= limit_, "quarantine only for a shard whose owners die",
              detail::shard_name(shard) + " after " + std::to_string(record.endings));
  record.endings = limit_ - 1;
  record.kills = 0;
}

void shard_rules::check_effect(std::uint32_t shard, const std::string& data) {
  auto& record = of(shard);
  std::istringstream text(data);
  std::int64_t epoch = 0;
  std::int64_t token = 0;
  text >> epoch >> token;
  if (token < record.removed) return;  // see `is_coincidence`
  const auto detail = detail::shard_name(shard) + ": " + data;
  in_.require(!record.finished && epoch == record.epoch && token == record.began, "effects belong to the present term",
              detail);
  in_.require(epoch >= record.last_kept, "effects in the order of the epochs", detail);
  record.last_kept = epoch;
  if (record.deaths == 0) record.endings = record.kills = 0;  // what is committed during a hand-over is no progress
}

/// The product counts a death as of the last write of its term, and one in each `calm`; a term that lasts so long is no
/// strike. Owners of one id need three times as many.
void shard_rules::killed(int client, std::uint32_t shard, std::int64_t token) {
  auto& record = of(shard);
  if (record.finished || token != record.began) return;  // that owner has been counted as dead before
  const bool is_soon = record.kills > 0 && in_.clock().now() - record.killed < 2 * calm_ + in_.what().timeout;
  if (record.kills == 0) record.victims.clear();
  const bool were_many = record.victims.size() >= 3;  // two clients may have one id
  record.victims.insert(client);
  if (is_soon) return;
  ++record.kills;
  record.killed = in_.clock().now();
  const bool is_counted = limit_ > 0 && !was_edited(shard);
  const auto most = limit_ * (were_many ? 1 : 3);
  in_.require(!is_counted || record.kills <= most, "a shard kills no more owners than that",
              detail::shard_name(shard) + ", " + std::to_string(record.kills));
}

void shard_rules::inaugurated(int client, std::uint32_t shard, std::int64_t epoch, std::int64_t token) {
  auto& record = of(shard);
  in_.require(record.tokens.insert(token).second, "a term is inaugurated once",
              "client " + std::to_string(client) + ", " + detail::shard_name(shard) + ", " + std::to_string(epoch));
}

std::string shard_rules::owner(std::uint32_t shard) const {
  const auto& record = of(shard);
  if (record.finished) return {};
  detail::term_record present;
  present.leader_node = record.leader;
  return detail::member_of(present);
}

std::string shard_rules::owner_of(std::uint32_t shard, std::int64_t token) const {
  const auto found = of(shard).owners.find(token);
  return found == of(shard).owners.end() ? std::string() : found->second;
}

}  // namespace zkrecipes::simulation
