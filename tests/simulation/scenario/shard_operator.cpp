#include "scenario/shard_operator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "shards/operator_notes.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {
constexpr const char* garbage = "not ours";
}

shard_operator::shard_operator(sharing& of)
    : of_(of), in_(of.in), chance_(in_.what().seed, 1010), wishes_(in_.what().seed, 1011) {
  perhaps(wishes_, 2, &shard_operator::pin);
  perhaps(wishes_, 3, &shard_operator::drain);
  if (chance_.one_in(3)) return;
  perhaps(4, &shard_operator::garble_member);
  perhaps(4, &shard_operator::order_twice);
  of_.edits_records = chance_.one_in(3);
  if (of_.edits_records) {
    perhaps(2, &shard_operator::edit_record);
    perhaps(2, &shard_operator::remove_record);
  }
  perhaps(4, &shard_operator::remove_away);
  perhaps(4, &shard_operator::freeze);
  perhaps(3, &shard_operator::quarantine);
  perhaps(3, &shard_operator::release);
  if (!chance_.one_in(4)) return;
  in_.take_leases();
  perhaps(1, &shard_operator::remove_member);
}

void shard_operator::perhaps(chance& by, std::uint64_t one_in, deed what) {
  if (!by.one_in(one_in)) return;
  for (auto times = 1 + by.below(3); times > 0; --times) {
    const auto when = by.between(in_.what().faults_from, in_.what().faults_until - 1s);
    in_.clock().at(when, [this, what] { (this->*what)(); });
  }
}

/// The path of a child; empty if there is none.
std::string shard_operator::any_child(const std::string& parent) {
  const auto* found = in_.servers().committed_state().find(parent);
  if (!found || found->children.empty()) return {};
  const auto which = static_cast<std::ptrdiff_t>(chance_.below(found->children.size()));
  return parent + '/' + *std::next(found->children.begin(), which);
}

void shard_operator::remove_member() {
  const auto path = any_child(group_paths().members());
  if (!path.empty()) in_.servers().remove(path);
}

void shard_operator::garble_member() {
  const auto path = any_child(group_paths().members());
  if (!path.empty()) in_.servers().write(path, chance_.one_in(2) ? garbage : "");
}

/// A shard of one member is written into the orders of another, too.
void shard_operator::order_twice() {
  const auto path = any_child(group_paths().members());
  const auto* node = path.empty() ? nullptr : in_.servers().committed_state().find(path);
  auto record = node ? detail::parse_member_record(node->data) : std::nullopt;
  if (!record) return;
  const auto shard = any_shard();
  if (record->orders.has(shard)) return;
  (chance_.one_in(2) ? record->orders.own : record->orders.expect).insert(shard);
  if (chance_.one_in(2)) record->orders.plan += 100;
  in_.servers().write(path, detail::serialize(*record));
}

/// With nothing, or with what is no record.
void shard_operator::edit_record() {
  const auto path = group_paths().record(any_shard());
  if (!in_.servers().committed_state().find(path)) return;
  in_.servers().write(path, chance_.one_in(2) ? garbage : "");
}

void shard_operator::remove_record() {
  const auto path = group_paths().record(any_shard());
  if (in_.servers().committed_state().find(path)) in_.servers().remove(path);
}

void shard_operator::remove_away() {
  const auto path = any_child(group_paths().away());
  if (!path.empty()) in_.servers().remove(path);
}

/// Some groups stay frozen.
void shard_operator::freeze() {
  in_.servers().create(group_paths().frozen(), "");
  if (chance_.one_in(4)) return;
  remove_later(group_paths().frozen());
}

void shard_operator::quarantine() {
  const auto& parent = group_paths().quarantines();
  if (!in_.servers().committed_state().find(parent)) in_.servers().create(parent, "");
  const auto path = group_paths().quarantine(any_shard());
  in_.servers().create(path, chance_.one_in(2) ? "" : garbage);
  if (chance_.one_in(4)) return;
  remove_later(path);
}

/// Ends a quarantine, one of an operator's or one that a member has begun.
void shard_operator::release() {
  const auto path = any_child(group_paths().quarantines());
  if (!path.empty()) in_.servers().remove(path);
}

void shard_operator::make_notes() {
  const auto& parent = group_paths().notes();
  if (!in_.servers().committed_state().find(parent)) in_.servers().create(parent, "");
}

std::string shard_operator::any_id() {
  return "m" + std::to_string(wishes_.below(static_cast<std::uint64_t>(in_.what().clients)));
}

/// Some shards stay pinned, and some members drained.
void shard_operator::pin() {
  make_notes();
  const auto path = group_paths().pin(static_cast<std::uint32_t>(wishes_.below(shard_count)));
  const auto data = wishes_.one_in(6) ? garbage : detail::write_pin(any_id());
  if (in_.servers().committed_state().find(path)) {
    in_.servers().write(path, data);
  } else {
    in_.servers().create(path, data);
  }
  if (wishes_.one_in(2)) remove_later(wishes_, path);
}

void shard_operator::drain() {
  make_notes();
  const auto path = group_paths().drain_of(any_id());
  in_.servers().create(path, "");
  if (!wishes_.one_in(3)) remove_later(wishes_, path);
}

void shard_operator::remove_later(chance& by, std::string path) {
  const auto left = in_.what().faults_until - in_.clock().now() - 1ms;
  const auto when = std::min<span>(by.between(100ms, 20s), left);
  in_.clock().after(when, [this, path = std::move(path)] { remove_surely(path); });
}

/// Again and again while there are faults: a removal can be lost with the ensemble's leader, and what was written
/// before it can come later.
void shard_operator::remove_surely(std::string path) {
  if (in_.servers().committed_state().find(path)) in_.servers().remove(path);
  if (in_.clock().now() > in_.what().faults_until) return;
  in_.clock().after(2s, [this, path = std::move(path)] { remove_surely(path); });
}

}  // namespace zkrecipes::simulation
