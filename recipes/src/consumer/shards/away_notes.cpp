#include "shards/away_notes.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

awaitable<error_code> away_notes::look() {
  if (hint_ && !hint_->fired()) co_return error_code();
  auto error = co_await read();
  if (error) hint_.reset();
  co_return error;
}

awaitable<error_code> away_notes::read() {
  const auto& session = group_->session;
  auto path = group_->where.away();
  const auto deadline = session->now() + session->options().timeout;
  hint_ = session->arm(watch_kind::children, path, changed_);
  auto list = make_request(opcode::children, path, true);
  auto listed = co_await session->perform(std::move(list), retry::always, nullptr, deadline);
  if (listed.error == errc::no_node) {
    notes_.clear();
    hint_.reset();  // a list that is missing sets no watch
    co_return co_await session->ensure_path(path);
  }
  if (listed.error) co_return listed.error;
  std::vector<backend::request> reads;
  for (const auto& each : listed.children) reads.push_back(make_request(opcode::get, join(path, each)));
  auto nodes = co_await session->perform_all(std::move(reads), nullptr, deadline);
  std::map<std::string, note> fresh;
  for (auto& each : nodes) {
    if (each.error == errc::no_node || each.error == errc::no_auth) continue;
    if (each.error) co_return each.error;
    auto record = parse_away_record(each.data);
    if (!record) continue;
    const auto known = notes_.find(record->id);
    const bool is_same = known != notes_.end() && known->second.stat.mzxid == each.stat.mzxid;
    const auto since = is_same ? known->second.since : session->now();
    auto id = record->id;
    fresh.insert_or_assign(std::move(id), note{std::move(*record), each.stat, since});
  }
  notes_ = std::move(fresh);
  co_return error_code();
}

std::vector<away_record> away_notes::waiting(lease_clock::time_point& next) const {
  std::vector<away_record> all;
  for (const auto& each : notes_) {
    const auto end = each.second.since + each.second.record.grace;
    if (group_->session->now() >= end) continue;
    next = std::min(next, end);
    all.push_back(each.second.record);
  }
  return all;
}

std::vector<std::string> away_notes::over() const {
  std::vector<std::string> all;
  for (const auto& [id, each] : notes_) {
    if (group_->session->now() >= each.since + each.record.grace) all.push_back(id);
  }
  return all;
}

std::optional<std::int32_t> away_notes::version_of(const std::string& id) const {
  const auto found = notes_.find(id);
  if (found == notes_.end()) return std::nullopt;
  return found->second.stat.version;
}

}  // namespace zkrecipes::detail
