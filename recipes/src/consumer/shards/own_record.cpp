#include "shards/own_record.hpp"

#include <cmath>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// What a member tells of itself, but whether it drains.
bool have_same_contents(const member_record& a, const member_record& b) {
  return a.id == b.id && a.capacity == b.capacity && a.grace == b.grace && a.data == b.data;
}

}  // namespace

member_record own_record::present(bool is_draining) const {
  const auto& options = group_->options;
  member_record record;
  record.id = options.id;
  record.capacity = static_cast<std::uint32_t>(std::lround(options.capacity * 1000));
  record.is_draining = is_draining;
  record.failing = group_->health.lowered();
  record.grace = options.grace.value_or(group_->session->options().timeout);
  record.data = options.data;
  return record;
}

std::string own_record::begin(bool is_draining) {
  auto data = serialize(present(is_draining));
  is_shown_draining_ = is_draining;
  shown_failing_ = group_->health.lowered();
  return data;
}

void own_record::on_joined(own_node_ptr node) {
  node_ = std::move(node);
  orders_ = {};
  orders_written_ = node_->content().written;
  is_garbled_ = false;
  write_again_at_ = {};
}

/// Nothing if our node holds what is no record of ours.
std::optional<member_record> own_record::parse() const {
  auto record = parse_member_record(node_->content().data);
  if (record && record->id != group_->options.id) record.reset();
  return record;
}

bool own_record::read(bool is_draining) {
  if (node_->content().written == orders_written_) return false;
  orders_written_ = node_->content().written;
  auto record = parse();
  is_garbled_ = !record || !have_same_contents(*record, present(is_draining));
  if (!record) return false;
  orders_ = std::move(record->orders);
  is_shown_draining_ = record->is_draining;
  shown_failing_ = record->failing;
  return true;
}

bool own_record::is_outdated(bool is_draining) const {
  return is_garbled_ || is_draining != is_shown_draining_ || group_->health.lowered() != shown_failing_;
}

awaitable<void> own_record::write(bool is_draining, back_off& pause) {
  const auto& session = group_->session;
  if (!session->connected()) {  // not to wait here, where orders and `stop` are heard
    write_again_at_ = pause.next(*session->get_scheduler());
    co_return;
  }
  const auto there = parse();
  auto next = present(is_draining);
  next.orders = there ? there->orders : orders_;
  if (there) next.unknown_fields = there->unknown_fields;
  auto write = make_request(opcode::set, node_->path());
  write.data = serialize(next);
  write.version = node_->content().version;
  const auto deadline = session->now() + session->options().timeout;
  auto written = co_await session->perform(std::move(write), retry::once, node_->bound(), deadline);
  if (!written.error) is_shown_draining_ = next.is_draining;
  if (!written.error) shown_failing_ = next.failing;
  if (!written.error) is_garbled_ = false;
  write_again_at_ = written.error ? pause.next(*session->get_scheduler()) : lease_clock::time_point();
}

}  // namespace zkrecipes::detail
