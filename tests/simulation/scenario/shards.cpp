#include "scenario/shards.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "run/scenarios.hpp"
#include "scenario/term_rules.hpp"
#include "shards/group_layout.hpp"

namespace zkrecipes::simulation {

/// An operator who edits the nodes of a shard group while its members work.
class shard_operator {
 public:
  explicit shard_operator(sharing& of);

 private:
  using deed = void (shard_operator::*)();
  void perhaps(std::uint64_t one_in, deed what) { perhaps(chance_, one_in, what); }
  void perhaps(chance& by, std::uint64_t one_in, deed what);

  void remove_member();
  void garble_member();
  void order_twice();
  void edit_record();
  void remove_record();
  void remove_away();
  void freeze();
  void quarantine();
  void release();
  void pin();
  void drain();
  void make_notes();

  void remove_later(std::string path) { remove_later(chance_, std::move(path)); }
  void remove_later(chance& by, std::string path);
  std::string any_id();
  void remove_surely(std::string path);
  std::string any_child(const std::string& parent);
  std::uint32_t any_shard() { return static_cast<std::uint32_t>(chance_.below(shard_count)); }

  sharing& of_;
  stage& in_;
  chance chance_;
  chance wishes_;  // of what the planner is to heed
};

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

namespace {

std::chrono::milliseconds draw_shard_aftermath(std::uint64_t seed) {
  chance draw(seed, 1004);
  return draw.one_in(2) ? 0ms : std::chrono::milliseconds(draw.below(2000));
}

career_traits draw_shard_traits(std::uint64_t seed) {
  chance draw(seed, 1001);
  const auto limit = 400ms + std::chrono::milliseconds(draw.below(600));
  return {.hand_over_deadline = std::chrono::milliseconds(draw.below(4) * 700),
          .aftermath = draw_shard_aftermath(seed),
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = draw.one_in(3) ? limit : 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

shard_group_options draw_common_options(std::uint64_t seed) {
  chance draw(seed, 1002);
  constexpr std::chrono::milliseconds collections[] = {0ms, 200ms, 1s};
  constexpr double moves[] = {0.1, 0.4, 1};
  constexpr std::int32_t limits[] = {0, 2, 3, 3};
  shard_group_options all;
  all.shards = shard_count;
  all.collect = collections[draw.below(3)];
  all.max_moves = moves[draw.below(3)];
  all.quarantine_after = limits[draw.below(4)];
  all.calm = draw.one_in(2) ? 10s : 1s;
  return all;
}

std::size_t moves_of(const shard_group_options& options) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(options.shards * options.max_moves)));
}

class shards_scenario final : public scenario {
 public:
  explicit shards_scenario(stage& in) : all_(in), in_(in), operator_(all_) {
    for (std::uint32_t i = 0; i < shard_count; ++i) all_.calls.emplace_back(in, all_.traits.hand_over_deadline);
    make_effects();
  }

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    return make_sharer(all_, in, client, std::move(with));
  }
  int contenders() const override { return static_cast<int>(shard_count); }
  bool contends_for_each() const override { return true; }
  void committed(const entry& what) override;
  void received(const connection& from, const backend::request&) override { all_.orders.received(from); }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    all_.orders.watch_fired(to, event);
  }
  std::optional<std::vector<detail::held_term>> told_of(std::int64_t session) const override {
    return begun_.of(session);
  }
  void healed() override { all_.is_healed = true; }
  bool recovered() override;
  void check_quiet(const tree& nodes) override;

 private:
  void make_effects();
  void check_handed_over(std::uint32_t shard);
  void check_departure(const entry& what, const std::string& name);
  void forget_member(const std::string& name);
  std::string what_is_unsettled() const;
  bool is_settled(std::uint32_t shard, const std::string& assigned) const;

  sharing all_;
  begun_terms begun_;
  stage& in_;
  shard_operator operator_;
  bool has_changed_ = true;
  std::uint64_t edits_ = 0;
  std::optional<instant> settled_;
};

/// Again and again until there is a leader.
void shards_scenario::make_effects() {
  in_.clock().after(100ms, [this] {
    for (std::uint32_t i = 0; i < shard_count; ++i) {
      if (!in_.servers().committed_state().find(effects_path(i))) in_.servers().create(effects_path(i), "");
    }
    if (!in_.servers().committed_state().find(effects_path(shard_count - 1))) make_effects();
  });
}

/// The records first: they are judged by the members as they were before the transaction.
void shards_scenario::committed(const entry& what) {
  has_changed_ = has_changed_ || !what.changes.empty() || what.type != entry::kind::request;
  if (what.changes.empty()) return;
  all_.records.committed(what);
  begun_.committed(what, group_paths().planner(), group_paths().planner());
  for (std::uint32_t i = 0; i < shard_count; ++i) {
    begun_.committed(what, group_paths().record(i), group_paths().members());
  }
  all_.orders.committed(what);
  if (std::exchange(edits_, all_.records.edits()) != all_.records.edits()) in_.look_again();
  for (std::uint32_t i = 0; i < shard_count; ++i) {
    if (all_.records.was_edited(i)) all_.calls[i].forgive_overlaps();
  }
  for (const auto& each : what.changes) {
    const auto name = child_of(group_paths().members(), each.path);
    if (each.type != change::kind::remove || name.empty()) continue;
    check_departure(what, name);
    forget_member(name);
  }
}

/// A member that leaves in order has given up everything, or has tried to until it was too late to be heard. One whose
/// lease has lapsed leaves at once.
void shards_scenario::check_departure(const entry& what, const std::string& name) {
  if (what.type != entry::kind::request || is_by_operator(what) || in_.is_guarded(what.session)) return;
  const auto client = all_.orders.client_of(what.session);
  if (all_.has_lapsed[static_cast<std::size_t>(client)]) return;
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    const bool is_its = all_.records.owner(shard) == name;
    in_.require(!is_its || all_.calls[shard].has_ended(client), "a member leaves with nothing",
                detail::shard_name(shard) + " of " + name);
  }
}

/// The node of an owner was removed: the owner hears of it in time.
void shards_scenario::forget_member(const std::string& name) {
  in_.clock().after(in_.what().longest_ignorance(), [this, name] {
    for (int client = 0; client < in_.what().clients; ++client) {
      const auto* program = in_.running(client);
      for (std::uint32_t shard = 0; program && shard < shard_count; ++shard) {
        const auto what = program->believes(static_cast<int>(shard));
        const bool is_its = what.held && all_.records.owner_of(shard, what.token) == name;
        in_.require(!is_its, "an owner hears that its node has gone", detail::shard_name(shard) + " of " + name);
      }
    }
  });
}

/// Everything has its place, and nothing has changed for a while.
bool shards_scenario::recovered() {
  if (std::exchange(has_changed_, false)) {
    const auto unsettled = what_is_unsettled();
    in_.notes().note(journal::ensemble, "unsettled", unsettled);
    if (!unsettled.empty()) {
      settled_.reset();
    } else if (!settled_) {
      settled_ = in_.clock().now();
    }
  }
  return settled_ && in_.clock().now() - *settled_ > 3s;
}

/// Empty: nothing.
std::string shards_scenario::what_is_unsettled() const {
  const auto& state = all_.orders.state();
  if (in_.servers().sessions() > static_cast<std::size_t>(in_.what().clients)) return "the session of a killed process";
  if (state.has_doubles()) return "a shard is ordered twice";
  if (!state.frozen_since() && !state.is_balanced()) return "the balance";
  const auto assigned = state.assigned();
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    if (!is_settled(shard, assigned[shard])) {
      return detail::shard_name(shard) + " of '" + assigned[shard] + "' led by '" + all_.records.owner(shard) + "'";
    }
  }
  return {};
}

bool shards_scenario::is_settled(std::uint32_t shard, const std::string& assigned) const {
  const auto& state = all_.orders.state();
  const auto owner = all_.records.owner(shard);
  const bool may_stay_free = assigned.empty() && state.frozen_since() && !state.has_taker();  // all want to leave
  if (state.quarantines().contains(shard) || may_stay_free) return assigned.empty() && !state.is_there(owner);
  return !assigned.empty() && owner == assigned && all_.records.is_executing(shard);
}

/// Nobody takes over from a dead owner of a shard in quarantine, nor from one whose lease lapsed while all left.
void shards_scenario::check_handed_over(std::uint32_t shard) {
  const auto owner = all_.records.owner(shard);
  if (owner.empty()) return;
  const auto& state = all_.orders.state();
  const auto client = static_cast<std::size_t>(all_.orders.client_of(state.members().at(owner).session));
  const bool is_orphan = state.quarantines().contains(shard) || all_.has_lapsed[client];
  in_.require(!state.is_there(owner) && is_orphan, "the last term is handed over", detail::shard_name(shard));
}

/// The records, the notes of those that may come back, and the like are the state of the group, and stay.
void shards_scenario::check_quiet(const tree& nodes) {
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) check_handed_over(shard);
  for (const auto& parent : {group_paths().members(), group_paths().planner()}) {
    const auto* line = nodes.find(parent);
    if (line && !line->children.empty()) in_.fail("no node left", parent + '/' + *line->children.begin());
  }
}

}  // namespace

sharing::sharing(stage& stage)
    : in(stage),
      traits(draw_shard_traits(stage.what().seed)),
      common(draw_common_options(stage.what().seed)),
      has_lapsed(static_cast<std::size_t>(stage.what().clients)),
      orders(stage, moves_of(common)),
      records(stage, orders, common) {
  chance draw(stage.what().seed, 1003);
  if (draw.one_in(4)) killer = static_cast<std::uint32_t>(draw.below(shard_count));
  has_namesakes = draw.one_in(8);
}

shard_group_options sharing::options_of(int client) const {
  chance draw(in.what().seed, 1020 + static_cast<std::uint64_t>(client));
  constexpr double capacities[] = {1, 1, 1, 2, 0.5};
  auto all = common;
  const bool is_namesake = has_namesakes && client == in.what().clients - 1;
  all.id = "m" + std::to_string(is_namesake ? client - 1 : client);
  all.capacity = capacities[draw.below(5)];
  all.data = draw.one_in(2) ? "host-" + std::to_string(client) : "";
  if (draw.one_in(2)) all.grace = std::chrono::milliseconds(draw.below(4) * 2500);
  return all;
}

std::unique_ptr<scenario> make_shards_scenario(stage& in) { return std::make_unique<shards_scenario>(in); }

}  // namespace zkrecipes::simulation
