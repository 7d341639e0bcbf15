#include "shards/shard_quarantine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "career/take_over.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto calms = 12;
constexpr std::chrono::milliseconds shortest = 1s;
constexpr std::chrono::milliseconds longest = 10min;
constexpr std::int64_t most_doublings = 20;

}  // namespace

std::chrono::milliseconds quarantine_terms::length_of(const std::string& data) const {
  const auto first = std::max(calms * calm_, shortest);
  const auto doublings = std::clamp<std::int64_t>(parse_quarantine(data).before, 0, most_doublings);
  return std::min(first * (std::int64_t{1} << doublings), std::max(longest, first));
}

std::vector<quarantine_terms::ended> quarantine_terms::look(const children_snapshot& present,
                                                            lease_clock::time_point now,
                                                            lease_clock::time_point& next) {
  std::vector<ended> all;
  std::map<std::int64_t, lease_clock::time_point> seen;
  for (const auto& each : present.nodes) {
    const auto known = since_.find(each->stat.czxid);
    const auto since = known == since_.end() ? now : known->second;
    seen[each->stat.czxid] = since;
    const auto until = since + length_of(each->data);
    if (now >= until) {
      all.push_back({each->name, each->stat.version});
    } else {
      next = std::min(next, until);
    }
  }
  since_ = std::move(seen);
  return all;
}

namespace {

constexpr std::int64_t factor_for_one_member = 3;
constexpr std::size_t most_names = 8;

}  // namespace

void count_owner_failure(term_record& record, const std::string& member, std::int64_t at_ms,
                         std::chrono::milliseconds calm) {
  auto& row = record.struck;
  if (record.deaths == 0) row = {};
  const bool is_known = std::ranges::find(row.by, member) != row.by.end();
  if (!is_known && row.by.size() < most_names) row.by.push_back(member);
  const auto since = at_ms - row.at_ms;
  const bool is_soon = row.at_ms > 0 && since >= 0 && since < calm.count();
  if (record.deaths > 0 && is_soon && is_known) return;
  ++record.deaths;
  if (at_ms > 0) row.at_ms = at_ms;
}

std::int64_t failures_needed(const term_record& record, std::int32_t quarantine_after) {
  const bool is_one = quarantine_after > 1 && record.struck.by.size() < 2;
  return quarantine_after * (is_one ? factor_for_one_member : 1);
}

namespace {

constexpr std::string_view quarantine_kind = "shard_quarantine";

/// `outcome`: of the write. Without a reply it counts as done, because nobody else would tell.
void write_log(const group_frame& group, std::uint32_t shard, const quarantine_record& why, const error_code& outcome) {
  if (outcome && !may_have_happened(outcome)) return;
  const auto log = guarded(*group.session->get_scheduler(), group.session->options().log);
  if (!log) return;
  const auto path = group.where.quarantine(shard);
  const auto detail = (outcome ? "quarantined, but not confirmed, because the reply was lost: " : "quarantined: ") +
                      std::to_string(why.deaths) +
                      " terms in a row ended by a death, a stall or an exception; the last owner: " + why.last;
  log_event told;
  told.event = session_event::operation_failed;
  told.severity = log_severity::warning;
  told.operation = "quarantine";
  told.path = path;
  told.error = outcome;
  told.detail = detail;
  log(told);
}

}  // namespace

std::string serialize(const quarantine_record& record) {
  auto object = json_object::of_kind(quarantine_kind).set("deaths", record.deaths).set("last", record.last);
  if (record.before) object.set("before", record.before);
  return object.to_text();
}

quarantine_record parse_quarantine(const std::string& data) {
  const auto object = json_object::parse(data);
  if (!object || !object->is(quarantine_kind)) return {};
  return {object->integer("deaths", 0).value_or(0), object->text("last").value_or(std::string()),
          object->integer("before", 0).value_or(0)};
}

transaction release_of(const group_layout& where, std::uint32_t shard, const backend::reply& record) {
  transaction all;
  all.remove(where.quarantine(shard));
  auto known = record.error ? std::nullopt : parse_record(record.data);
  if (!known || known->deaths == 0 || !known->finished()) return all;
  known->deaths = 0;
  return all.set(where.record(shard), serialize(*known), record.stat.version);
}

awaitable<error_code> put_in_quarantine(group_frame_ptr group, own_node_ptr member, std::uint32_t shard,
                                        std::int64_t ended_epoch) {
  const auto& session = group->session;
  auto error = co_await session->ensure_path(group->where.quarantines());
  if (error) co_return error;
  auto path = group->where.record(shard);
  auto read = co_await read_record(session, path, member->bound());
  auto& [failure, known] = read;
  if (failure) co_return failure;
  auto& record = known.record;
  if (record.epoch != ended_epoch) co_return errc::bad_version;
  const bool has_died = !record.finished() || record.phase == term_phase::stalled || record.phase == term_phase::died;
  if (has_died) count_owner_failure(record, record.leader_id, known.mtime, group->options.calm);
  quarantine_record why{record.deaths, record.leader_id, record.struck.quarantines};
  const auto needed = failures_needed(record, group->options.quarantine_after);
  if (record.deaths < needed) co_return errc::bad_version;  // its last owner was late, not dead
  // A term of its own, which fences the last owner: it may live after all, and would go on under its own term.
  ++record.epoch;
  record.phase = term_phase::retired;
  record.how = takeover::forced;
  record.leader_id = group->options.id;
  record.leader_node = member->name();
  record.leader_token = 0;
  record.deaths = needed - 1;  // the term behind the quarantine is on probation
  ++record.struck.quarantines;
  record.aftermath = {};
  transaction all;
  all.set(path, serialize(record), known.version);
  all.create(group->where.quarantine(shard), serialize(why));
  all.check(member->path());
  auto multi = backend::make_multi(all);
  const auto deadline = session->now() + session->options().timeout;
  auto done = co_await session->perform(std::move(multi), retry::once, member->bound(), deadline);
  write_log(*group, shard, why, done.error);
  co_return done.error;
}

}  // namespace zkrecipes::detail
