#include "balance/pace_nodes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "balance/largest_range.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view limit_kind = "shared_balance";
constexpr std::string_view member_kind = "shared_balance_member";
constexpr std::int64_t largest_steps = std::int64_t{1} << 53;

}  // namespace

std::string serialize(const limit_record& record) {
  auto text = json_object::of_kind(limit_kind);
  text.set("range", record.range).set("limit", record.limit);
  return text.add(record.unknown_fields).to_text();
}

std::optional<limit_record> parse_limit_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(limit_kind)) return std::nullopt;
  const auto range = read->integer("range", 1, largest_range);
  if (!range) return std::nullopt;
  const auto limit = read->integer("limit", *range, largest_steps);
  if (!limit) return std::nullopt;
  return limit_record{*range, *limit, read->without({"range", "limit"})};
}

std::string serialize(const pace_member_record& record) {
  auto text = json_object::of_kind(member_kind);
  text.set("id", record.id);
  if (record.floor) text.set("floor", *record.floor);
  return text.to_text();
}

std::optional<pace_member_record> parse_pace_member_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(member_kind)) return std::nullopt;
  const auto id = read->text("id");
  if (!id) return std::nullopt;
  pace_member_record record{*id, std::nullopt};
  if (!read->has("floor")) return record;
  record.floor = read->integer("floor", 0, largest_steps);
  if (!record.floor) return std::nullopt;
  return record;
}

using backend::make_request;
using backend::opcode;

namespace {

/// Both at once, so that one without the other means that somebody has removed the other. The limit is written twice:
/// its node then never has the version of one that somebody else has just made, so a write by the version can not hit
/// that one.
awaitable<error_code> make_nodes(pace_place_ptr where, std::int64_t known) {
  auto error = co_await where->session->ensure_path(where->root);
  if (error) co_return error;
  const auto data = serialize(limit_record{where->range, std::max(known, where->range)});
  transaction both;
  both.create(where->limit(), data).set(where->limit(), data).create(where->members());
  auto made = co_await where->session->perform(backend::make_multi(std::move(both)), retry::always);
  if (made.error == errc::node_exists && backend::failed_at(made) == 2) co_return errc::no_node;
  co_return is_write_conflict(made.error) ? error_code() : made.error;  // the caller looks again
}

}  // namespace

limit_sight read_limit(const pace_place& where, const backend::reply& node) {
  limit_sight seen;
  seen.error = node.error;
  if (node.error) return seen;
  auto record = parse_limit_record(node.data);
  if (!record) {
    seen.error = errc::foreign_data;
    return seen;
  }
  if (record->range != where.range) seen.error = errc::size_mismatch;
  seen.record = std::move(*record);
  seen.version = node.stat.version;
  seen.mzxid = node.stat.mzxid;
  return seen;
}

awaitable<limit_sight> find_limit(pace_place_ptr where, std::int64_t known) {
  constexpr int most_rounds = 10;
  limit_sight seen;
  for (int round = 0; round < most_rounds; ++round) {
    auto node = co_await where->session->perform(make_request(opcode::get, where->limit()), retry::always);
    seen = read_limit(*where, node);
    if (seen.error != errc::no_node) co_return seen;
    auto error = co_await make_nodes(where, known);
    if (error) {
      seen.error = error;
      co_return seen;
    }
  }
  co_return seen;
}

}  // namespace zkrecipes::detail
