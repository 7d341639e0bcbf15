#include "queue/queue_core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A missing folder is no failure, because it counts as empty.
bool is_failure(const backend::reply& listed) { return listed.error && listed.error != errc::no_node; }

}  // namespace

std::shared_ptr<queue_core> queue_core::make(const session& over, queue_kind kind, std::string path,
                                             queue_options options) {
  require_path("queue path", path);
  if (options.max_attempts < 0 || options.max_attempts > 100) {
    throw std::invalid_argument("queue_options::max_attempts: it must be from 0 to 100");
  }
  const auto session = require_session(over);
  options.on_unavailable_item = guarded(*session->get_scheduler(), std::move(options.on_unavailable_item));
  auto frame =
      std::make_shared<queue_frame>(queue_frame{session, queue_layout(kind, std::move(path)), std::move(options)});
  return std::make_shared<queue_core>(std::move(frame));
}

queue_core::queue_core(shared_frame frame)
    : frame_(std::move(frame)),
      clock_(std::make_shared<server_clock>(frame_)),
      claims_(std::make_shared<claims>(frame_, clock_)),
      items_(std::make_shared<item_list>(frame_, clock_, claims_)),
      capacity_(std::make_shared<capacity>(frame_)),
      putter_(frame_, capacity_) {}

awaitable<outcome<std::size_t>> queue_core::size() {
  auto listed = co_await frame_->session->perform(make_request(opcode::children, frame_->where.items), retry::always);
  co_return outcome<std::size_t>(listed.error, frame_->where.items_of(listed.children).size());
}

awaitable<outcome<queue_status>> queue_core::status() {
  const auto& session = frame_->session;
  const auto& where = frame_->where;
  queue_status seen;
  auto listed = co_await session->perform(make_request(opcode::children, where.items), retry::always);
  if (listed.error) co_return outcome<queue_status>(listed.error, seen);
  const auto items = where.items_of(listed.children);
  seen.items = items.size();
  seen.list_bytes = list_bytes(where, listed.children.size());
  auto side = listed;
  if (where.is_apart()) side = co_await session->perform(make_request(opcode::children, where.side), retry::always);
  if (is_failure(side)) co_return outcome<queue_status>(side.error, seen);
  for (const auto& name : side.children) seen.claimed += name.starts_with(claim_prefix) ? 1 : 0;
  for (const auto& name : listed.children) seen.foreign += where.parse(name) || where.is_known(name) ? 0 : 1;
  auto dead = co_await session->perform(make_request(opcode::children, where.on_side(dead_folder)), retry::always);
  if (is_failure(dead)) co_return outcome<queue_status>(dead.error, seen);
  seen.dead = dead.children.size();
  for (const auto& each : items) {
    auto first = co_await session->perform(make_request(opcode::exists, where.item(each.name)), retry::always);
    if (first.error == errc::no_node) continue;  // taken meanwhile
    auto error = first.error;
    if (!error) error = co_await clock_->learn();
    if (error) co_return outcome<queue_status>(error, seen);
    seen.oldest = std::chrono::milliseconds(std::max<std::int64_t>(0, clock_->earliest() - first.stat.ctime));
    break;
  }
  co_return outcome<queue_status>(error_code(), seen);
}

}  // namespace zkrecipes::detail
