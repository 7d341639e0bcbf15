#include "shards/group_frame.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t records_at_once = 100;  // in a transaction
constexpr std::size_t batches_at_once = 10;   // on the way

/// A node without data was made by somebody who needed a path: it is taken over.
awaitable<error_code> fill_in(group_frame_ptr group, std::int32_t version) {
  auto write = make_request(opcode::set, group->where.root);
  write.data = group_data(group->options.shards);
  write.version = version;
  auto written = co_await group->session->perform(std::move(write), retry::once);
  co_return written.error;
}

awaitable<error_code> create_root(group_frame_ptr group) {
  std::string parent(parent_of(group->where.root));
  if (parent.size() > 1) {
    auto error = co_await group->session->ensure_path(std::move(parent));
    if (error) co_return error;
  }
  auto create = make_request(opcode::create, group->where.root);
  create.data = group_data(group->options.shards);
  auto created = co_await group->session->perform(std::move(create), retry::once);
  co_return created.error;
}

std::vector<backend::request> creations_of(const group_layout& where, const std::vector<std::uint32_t>& missing) {
  std::vector<backend::request> all;
  for (std::size_t first = 0; first < missing.size(); first += records_at_once) {
    transaction some;
    const auto last = std::min(missing.size(), first + records_at_once);
    for (auto i = first; i < last; ++i) some.create(where.record(missing[i]));
    all.push_back(backend::make_multi(some));
  }
  return all;
}

}  // namespace

awaitable<error_code> make_group(group_frame_ptr group) {
  for (;;) {
    auto look = make_request(opcode::get, group->where.root);
    auto root = co_await group->session->perform(std::move(look), retry::always);
    error_code error = root.error;
    if (error == errc::no_node) {
      error = co_await create_root(group);
    } else if (!error && root.data.empty()) {
      error = co_await fill_in(group, root.stat.version);
    } else if (!error) {
      const auto size = read_group_data(root.data);
      if (!size.is_group) co_return errc::foreign_data;
      if (size.shards != group->options.shards) co_return errc::size_mismatch;
      co_return error;
    }
    const bool is_to_be_seen = !error || is_write_conflict(error) || may_have_happened(error);
    if (!is_to_be_seen) co_return error;
    auto path = group->where.away();
    error = co_await group->session->ensure_path(std::move(path));
    if (error && !may_have_happened(error)) co_return error;
  }
}

std::vector<std::uint32_t> missing_records(const group_frame& group, const std::vector<std::string>& present) {
  const std::set<std::string> there(present.begin(), present.end());
  std::vector<std::uint32_t> missing;
  for (std::uint32_t each = 0; each < group.options.shards; ++each) {
    if (!there.contains(shard_name(each))) missing.push_back(each);
  }
  return missing;
}

awaitable<error_code> make_records(group_frame_ptr group, std::vector<std::uint32_t> missing) {
  auto all = creations_of(group->where, missing);
  for (std::size_t first = 0; first < all.size(); first += batches_at_once) {
    const auto last = std::min(all.size(), first + batches_at_once);
    std::vector<backend::request> some(all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(last));
    auto answers = co_await group->session->perform_all(std::move(some));
    for (const auto& each : answers) {
      if (each.error && each.error != errc::node_exists) co_return each.error;
    }
  }
  co_return error_code();
}

}  // namespace zkrecipes::detail
