#include "shards/group_view.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"
#include "shards/group_view_maker.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using backend::reply;

namespace {

/// A thousand at a time, because an answer that waits to be read takes memory.
awaitable<std::vector<reply>> read_all(core_ptr session, std::vector<backend::request> reads) {
  constexpr std::size_t most = 1000;
  std::vector<reply> all;
  for (std::size_t first = 0; first < reads.size(); first += most) {
    const auto last = std::min(reads.size(), first + most);
    std::vector<backend::request> some(reads.begin() + std::ptrdiff_t(first), reads.begin() + std::ptrdiff_t(last));
    auto answers = co_await session->perform_all(std::move(some));
    for (auto& each : answers) all.push_back(std::move(each));
  }
  co_return all;
}

/// A list that is missing is empty.
error_code failure_of(const reply& list) { return list.error == errc::no_node ? error_code() : list.error; }

}  // namespace

awaitable<outcome<shard_group_view>> view_group(core_ptr session, group_layout where) {
  std::vector<backend::request> lists{
      make_request(opcode::get, where.root),        make_request(opcode::children, where.members()),
      make_request(opcode::children, where.away()), make_request(opcode::children, where.quarantines()),
      make_request(opcode::exists, where.frozen()), make_request(opcode::children, where.notes())};
  auto listed = co_await session->perform_all(std::move(lists));
  error_code error = listed[0].error;
  for (std::size_t i = 1; i < listed.size() && !error; ++i) error = failure_of(listed[i]);
  if (error) co_return outcome<shard_group_view>(error, shard_group_view());
  const auto size = read_group_data(listed[0].data);
  if (!size.is_group) co_return outcome<shard_group_view>(errc::foreign_data, shard_group_view());
  const bool is_frozen = !listed[4].error;
  const auto& members = listed[1].children;
  const auto& away = listed[2].children;
  const auto& quarantines = listed[3].children;
  const auto& notes = listed[5].children;
  std::vector<backend::request> reads;
  for (std::uint32_t i = 0; i < size.shards; ++i) reads.push_back(make_request(opcode::get, where.record(i)));
  for (const auto& each : members) reads.push_back(make_request(opcode::get, where.member(each)));
  for (const auto& each : away) reads.push_back(make_request(opcode::get, join(where.away(), each)));
  for (const auto& each : quarantines) reads.push_back(make_request(opcode::get, join(where.quarantines(), each)));
  for (const auto& each : notes) reads.push_back(make_request(opcode::get, join(where.notes(), each)));
  auto nodes = co_await read_all(session, std::move(reads));
  for (const auto& each : nodes) {
    if (is_untold(each.error)) co_return outcome<shard_group_view>(each.error, shard_group_view());
  }
  group_view_maker maker(size, is_frozen);
  auto next = nodes.begin();
  for (std::uint32_t i = 0; i < size.shards; ++i, ++next) maker.set_shard(shard_of(i, next->data, next->stat));
  for (const auto& each : members) maker.add_member(each, next->data, next->stat), ++next;
  for (std::size_t i = 0; i < away.size(); ++i, ++next) maker.add_away(next->data, next->stat);
  for (const auto& each : quarantines) maker.add_quarantine(each, next->data), ++next;
  for (const auto& each : notes) maker.add_note(each, (next++)->data);
  co_return outcome<shard_group_view>(error_code(), maker.finish());
}

}  // namespace zkrecipes::detail
