#include "shards/shard_quarantine.hpp"

#include <string>
#include <utility>

#include "consumer/known_record.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view quarantine_kind = "shard_quarantine";

}  // namespace

std::string serialize(const quarantine_record& record) {
  return json_object::of_kind(quarantine_kind).set("deaths", record.deaths).set("last", record.last).to_text();
}

quarantine_record parse_quarantine(const std::string& data) {
  const auto object = json_object::parse(data);
  if (!object || !object->is(quarantine_kind)) return {};
  return {object->integer("deaths", 0).value_or(0), object->text("last").value_or(std::string())};
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
  quarantine_record why{record.deaths + (has_died ? 1 : 0), record.leader_id};
  if (why.deaths < group->options.quarantine_after) co_return errc::bad_version;  // its last owner was late, not dead
  // A term of its own, which fences the last owner: it may live after all, and would go on under its own term.
  ++record.epoch;
  record.phase = term_phase::retired;
  record.how = takeover::forced;
  record.leader_id = group->options.id;
  record.leader_node = member->name();
  record.leader_token = 0;
  record.deaths = 0;
  record.aftermath = {};
  transaction all;
  all.set(path, serialize(record), known.version);
  all.create(group->where.quarantine(shard), serialize(why));
  all.check(member->path());
  auto multi = backend::make_multi(all);
  const auto deadline = session->now() + session->options().timeout;
  auto done = co_await session->perform(std::move(multi), retry::once, member->bound(), deadline);
  co_return done.error;
}

}  // namespace zkrecipes::detail
