#include "scenario/coordinator.hpp"

#include "line/line_spec.hpp"
#include "scenario/call_rules.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint64_t least_after_healing = 5;

std::chrono::milliseconds draw_aftermath(std::uint64_t seed) {
  chance draw(seed, 804);
  return draw.one_in(2) ? 0ms : std::chrono::milliseconds(draw.below(2000));
}

career_traits draw_traits(std::uint64_t seed) {
  chance draw(seed, 801);
  const auto limit = 400ms + std::chrono::milliseconds(draw.below(600));
  return {.hand_over_deadline = std::chrono::milliseconds(draw.below(4) * 700),
          .aftermath = draw_aftermath(seed),
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = draw.one_in(3) ? limit : 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

/// What was consumed goes at once, is kept for a while, or stays.
topic_options draw_topic(std::uint64_t seed) {
  chance draw(seed, 803);
  topic_options options{.shards = 1};
  const auto what = draw.below(4);
  if (what < 3) options.retention.groups = {service::group};
  if (what == 2) options.retention.age = 1s;
  return options;
}

class coordinator_scenario final : public scenario {
 public:
  coordinator_scenario(stage& in, bool from_topic) : all_(in, from_topic), in_(in), chance_(in.what().seed, 802) {
    if (chance_.one_in(4)) meddle(&coordinator_scenario::overwrite_record);
    if (chance_.one_in(3)) meddle(&coordinator_scenario::delete_message);
    if (chance_.one_in(3)) meddle(&coordinator_scenario::ask_all_to_resign);
  }

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == producing_client) return make_filler(all_, in, std::move(with));
    return make_worker(all_, in, client, std::move(with));
  }
  void committed(const entry& what) override {
    all_.terms.committed(what);
    begun_.committed(what, service::election_path, service::election_path);
    all_.messages.committed(what);
    all_.line.committed(what);
    if (all_.terms.overwritten()) all_.calls.forgive_overlaps();
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    all_.line.watch_fired(to, event);
  }
  std::optional<std::vector<detail::held_term>> told_of(std::int64_t session) const override {
    return begun_.of(session);
  }
  void healed() override { at_healing_ = all_.messages.settled(); }
  bool recovered() override { return all_.messages.settled() >= at_healing_ + least_after_healing; }
  bool settled() override { return all_.revivals == 0 && all_.messages.all_settled(); }
  void check_quiet(const tree& nodes) override {
    all_.terms.check_quiet(nodes);
    all_.messages.check_quiet();
  }

 private:
  /// An operator does it up to four times.
  void meddle(void (coordinator_scenario::*how)()) {
    for (std::uint64_t times = 1 + chance_.below(4); times > 0; --times) {
      const auto when = chance_.between(in_.what().faults_from, in_.what().faults_until);
      in_.clock().at(when, [this, how] { (this->*how)(); });
    }
  }

  /// With nothing, or with what is no record: then somebody sees to it a while later.
  void overwrite_record() {
    if (!in_.servers().committed_state().find(service::election_path)) return;
    const bool with_garbage = chance_.one_in(2);
    in_.servers().write(service::election_path, with_garbage ? "not a record" : "");
    if (with_garbage) in_.clock().after(chance_.between(100ms, 5s), [this] { mend_record(); });
  }

  /// Again and again: a write can be lost with the ensemble's leader, and what was written before it can come later.
  void mend_record() {
    const auto* record = in_.servers().committed_state().find(service::election_path);
    if (record && record->data == "not a record") in_.servers().write(service::election_path, "");
    in_.clock().after(2s, [this] { mend_record(); });
  }

  /// The first one: it is in somebody's hands.
  void delete_message() {
    const std::string folder = all_.is_topic ? service::shard_path : service::queue_path;
    const auto* queue = in_.servers().committed_state().find(folder);
    if (!queue) return;
    for (const auto& name : queue->children) {
      if (name.starts_with(all_.is_topic ? "b-" : "qn-")) return in_.servers().remove(folder + '/' + name);
    }
  }

  /// Each candidate, so that those who are next in line are asked before their term begins, too.
  void ask_all_to_resign() {
    const auto& nodes = in_.servers().committed_state();
    const auto* line = nodes.find(service::election_path);
    if (!line) return;
    for (const auto& name : line->children) {
      const auto path = std::string(service::election_path) + '/' + name;
      in_.servers().write(path, detail::with_revocation(nodes.find(path)->data));
    }
  }

  consumers all_;
  begun_terms begun_;
  stage& in_;
  chance chance_;
  std::uint64_t at_healing_ = 0;
};

}  // namespace

consumers::consumers(stage& in, bool from_topic)
    : is_topic(from_topic),
      of_topic(draw_topic(in.what().seed)),
      traits(draw_traits(in.what().seed)),
      terms(in, service::election_path),
      messages(in, terms, service::election_path, service::queue_path, service::result_path, from_topic),
      calls(in, traits.hand_over_deadline),
      line(in, service::election_path) {}

std::unique_ptr<scenario> make_coordinator_scenario(stage& in) {
  return std::make_unique<coordinator_scenario>(in, false);
}

std::unique_ptr<scenario> make_topic_scenario(stage& in) { return std::make_unique<coordinator_scenario>(in, true); }

}  // namespace zkrecipes::simulation
