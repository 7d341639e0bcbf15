#include "run/exhaustive.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "run/finding.hpp"
#include "run/stage.hpp"
#include "scenario/election.hpp"
#include "scenario/routine.hpp"
#include "scenario/scripts.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

/// Runs one operation with one fault at one of its steps.
enum class step_fault {
  none,
  not_sent,         ///< The request does not arrive.
  reply_lost,       ///< The request is executed, but the connection breaks before the answer.
  session_expired,  ///< The leader ends the session before the request is executed.
  cancel_total,
  cancel_partial,
  cancel_terminal,
};

inline constexpr int step_faults = static_cast<int>(step_fault::cancel_terminal) + 1;

const char* to_string(step_fault kind) noexcept;

struct trial {
  const script* what = nullptr;
  bool in_company = false;  ///< Two other clients contend in the same line.
  step_fault kind = step_fault::none;
  int step = 0;    ///< The request at which the fault happens, counted from the beginning of the operation.
  int steps = 0;   ///< Result: the number of requests.
  error_code end;  ///< Result: the error with which the operation ended.
};

const char* to_string(step_fault kind) noexcept {
  static constexpr const char* names[] = {"none",         "not_sent",       "reply_lost",     "session_expired",
                                          "cancel_total", "cancel_partial", "cancel_terminal"};
  static_assert(std::size(names) == step_faults);
  return names[static_cast<int>(kind)];
}

namespace {

constexpr int acting_client = 0;

class single_fault final : public scenario {
 public:
  single_fault(stage& in, trial& which)
      : of(which),
        all{line_rules(in, script_line), script_line, "/store", false,
            std::vector<bool>(static_cast<std::size_t>(in.what().clients))},
        in_(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override { all.rules.committed(what); }
  void received(const connection& from, const backend::request& what) override {
    if (from.client != acting_client || !under_way || ++of.steps != of.step) return;
    strike(from, what);
  }
  void healed() override { all.all_well = true; }
  bool recovered() override { return usable && std::ranges::all_of(all.granted_since_heal, std::identity()); }
  void check_quiet(const tree& nodes) override {
    for (const auto& [path, each] : nodes.nodes()) {
      if (parent_path(path) == script_node) continue;  // a script made it for its session
      const bool is_instance = parent_path(parent_path(path)) == script_services;
      in_.require(each.stat.ephemeral_owner <= 0 && !is_instance, "no node left", path);
    }
    if (afterwards) afterwards(nodes);
  }

  trial& of;
  contest all;
  bool under_way = false;
  bool over = false;
  bool cancelled = false;                             ///< The operation has ended for that reason.
  bool usable = false;                                ///< The session works after the operation.
  std::function<void(const tree& nodes)> afterwards;  ///< The script's check at the end.

 private:
  void strike(const connection& from, const backend::request& what);
  span time_limit() const;

  stage& in_;
};

/// How long a cancelled operation may take: long enough for the answers to its requests in flight and for the removal
/// of a node that they made, but not for a time-out or a reconnect.
span single_fault::time_limit() const {
  const auto& servers = in_.what().servers;
  return 60ms + 3 * (2 * servers.max_delay + servers.max_lag);
}

void single_fault::strike(const connection& from, const backend::request& what) {
  static constexpr asio::cancellation_type types[] = {asio::cancellation_type::total, asio::cancellation_type::partial,
                                                      asio::cancellation_type::terminal};
  in_.notes().note(acting_client, to_string(of.kind), backend::to_string(what.op), of.step);
  const auto wire = in_.wire(acting_client);
  if (of.kind == step_fault::reply_lost && !is_read(what.op)) {
    wire->lose_next_answer = true;
  } else if (of.kind == step_fault::not_sent || of.kind == step_fault::reply_lost) {
    in_.servers().break_connection(wire);  // for a read, a lost answer is the same as a lost request
  } else if (of.kind == step_fault::session_expired) {
    in_.servers().expire(from.key.id);
  } else if (of.kind >= step_fault::cancel_total) {
    const auto type = types[static_cast<int>(of.kind) - static_cast<int>(step_fault::cancel_total)];
    in_.inside(acting_client).run([&] { in_.running(acting_client)->cancel(type); });
    if (!of.what->is_cancellable) return;
    in_.clock().after(time_limit(),
                      [this] { in_.require(over || cancelled, "a cancelled operation ends", of.what->name); });
  }
}

class scripted final : public session_program, private actor {
 public:
  scripted(single_fault& of, stage& in, session with)
      : session_program(in, acting_client, std::move(with)),
        of_(of),
        in_(in),
        line_(zk_, script_line, {.id = "actor"}) {
    prepare();
  }

  void cancel(asio::cancellation_type type) override { signal_.emit(type); }
  void stop() override {
    stopping_ = true;
    signal_.emit(asio::cancellation_type::total);
    held_ = ownership();
  }
  std::string own_node() const override { return held_.path(); }
  belief believes(int) const override {
    auto& here = in_.inside(acting_client);
    if (held_.error() || here.now() >= held_.valid_until()) return {};
    return {true, here.true_time(held_.valid_until()), held_.token()};
  }

 private:
  session& zk() override { return zk_; }
  election& line() override { return line_; }
  ownership& held() override { return held_; }
  operations& all() override { return operations_; }
  asio::cancellation_signal& signal() override { return signal_; }
  void granted(ownership what) override;
  void done(error_code error) override;
  void was_cancelled() override { of_.cancelled = true; }
  void meanwhile(std::function<void()> what) override;
  void afterwards(std::function<void(const tree& nodes)> check) override { of_.afterwards = std::move(check); }
  stage& in() override { return in_; }
  void remove_own_node() override {
    if (!held_.path().empty()) in_.servers().remove(held_.path());
  }

  void prepare();
  void make(std::size_t which);
  void hold();
  void act();
  void probe();
  bool may_end_with(const error_code& error) const;
  void retry(void (scripted::*what)()) {
    in_.later(acting_client, 100ms, [this, what] { (this->*what)(); });
  }

  single_fault& of_;
  stage& in_;
  election line_;
  ownership held_;
  asio::cancellation_signal signal_;
  bool stopping_ = false;
};

void scripted::prepare() {
  operations_.start<>([this](auto token) { zk_.async_ensure_path(script_node, std::move(token)); },
                      [this](error_code error) {
                        if (error) return retry(&scripted::prepare);
                        make(0);
                      });
}

/// Creates this node and the following ones of those that the script wants to find, and then begins.
void scripted::make(std::size_t which) {
  const auto& before = of_.of.what->before;
  if (which == before.size()) return of_.of.what->holds ? hold() : act();
  const auto& [path, data] = before[which];
  operations_.start<created_node>(
      [this, &at = path, &text = data](auto token) {
        zk_.async_create(at, text, create_mode::persistent, std::move(token));
      },
      [this, which](error_code error, created_node) {
        in_.require(!error, "the script's nodes can be made", error.message());
        make(which + 1);
      });
}

void scripted::hold() {
  operations_.start<ownership>([this](auto token) { line_.async_campaign(std::move(token)); },
                               [this](error_code error, ownership won) {
                                 if (error) return retry(&scripted::hold);
                                 granted(std::move(won));
                                 act();
                               });
}

void scripted::granted(ownership what) {
  held_ = std::move(what);
  of_.all.rules.granted(acting_client, zk_.status().session_id, held_.path(), held_.token(), believes(0).held);
}

void scripted::act() {
  of_.under_way = true;
  in_.notes().note(acting_client, "script begins", of_.of.what->name);
  of_.of.what->run(*this);
}

void scripted::meanwhile(std::function<void()> what) {
  in_.later(acting_client, 300ms, [this, what = std::move(what)]() mutable {
    if (of_.over) return;
    what();
    meanwhile(std::move(what));
  });
}

void scripted::done(error_code error) {
  in_.notes().note(acting_client, "script ends", error.message());
  in_.require(!std::exchange(of_.over, true), "one completion per operation");
  in_.require(may_end_with(error), "an operation ends for a reason", error.message());
  of_.of.end = error;
  held_ = ownership();
  of_.all.granted_since_heal[acting_client] = true;
  probe();
}

/// Whether the error is one that the script allows without a fault, or one that the fault explains.
bool scripted::may_end_with(const error_code& error) const {
  const auto& script = *of_.of.what;
  auto among = [&error](const std::vector<error_code>& some) { return std::ranges::count(some, error) > 0; };
  if (!error || among(script.ends)) return true;
  switch (of_.of.kind) {
    case step_fault::none: return false;
    case step_fault::not_sent:
    case step_fault::reply_lost: return (error == errc::connection_loss && !script.is_retried) || among(script.if_lost);
    case step_fault::session_expired:
      return error == errc::session_expired || (error == errc::connection_loss && !script.is_retried) ||
             (error == errc::no_node && script.holds) || among(script.if_lost) || among(script.if_expired);
    default: return error == asio::error::operation_aborted && script.is_cancellable;
  }
}

void scripted::probe() {
  if (stopping_ || zk_.status().state == session_state::closed) {
    of_.usable = true;
    return;
  }
  operations_.start<node_stat>(
      [this](auto token) { zk_.async_exists("/", std::move(token)); },
      [this](error_code error, node_stat) { error ? retry(&scripted::probe) : void(of_.usable = true); });
}

std::unique_ptr<program> single_fault::start(stage& in, int client, session with) {
  if (client != acting_client) return make_contenders(all, in, client, std::move(with), 1);
  return std::make_unique<scripted>(*this, in, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_single_fault(stage& in, trial& of) { return std::make_unique<single_fault>(in, of); }

namespace {

constexpr std::uint64_t quick_seed = 1;
constexpr std::uint64_t single_fault_stream = 90;

/// A plan without faults: the trial adds its own. Seed 1 has the default timing of a quick ensemble; other seeds draw
/// the timing.
plan make_quiet_plan(bool in_company, lease_mode lease, std::uint64_t seed) {
  plan p;
  p.seed = seed;
  if (seed != quick_seed) {
    const auto drawn = make_plan(seed).servers;
    p.servers.max_delay = drawn.max_delay;
    p.servers.max_lag = drawn.max_lag;
    p.servers.election = drawn.election;
  }
  p.clients = in_company ? 3 : 1;
  p.timeout = 6s;
  p.lease = lease;
  p.parts_per_million.assign(static_cast<std::size_t>(p.clients), 0);
  p.faults_from = p.faults_until = 10s;
  p.takes_leases = true;
  return p;
}

std::string trial_name(const trial& one, lease_mode lease) {
  return one.what->name + (one.in_company ? "/company" : "/alone") +
         (lease == lease_mode::strict ? "/strict/" : "/standard/") + to_string(one.kind) + '/' +
         std::to_string(one.step);
}

outcome perform(trial& one, lease_mode lease, std::uint64_t seed, bool print) {
  return simulate(
      make_quiet_plan(one.in_company, lease, seed), [&one](stage& in) { return make_single_fault(in, one); }, print);
}

std::string line_of(const std::string& name, const violation& broken, std::uint64_t seed) {
  return name + " broke \"" + broken.invariant + "\": " + broken.detail +
         "; again: zkrecipes-simulate --single-faults '" + name + "'" +
         (seed == quick_seed ? "" : " --seed " + std::to_string(seed)) + " --trace";
}

class trials {
 public:
  trials(const std::string& filter, int every, std::uint64_t seed, bool trace)
      : filter_(filter), every_(every), seed_(seed), trace_(trace) {}

  /// Runs the operation without a fault, to count its steps, and then with each kind of fault at each step.
  void run(const script& what, bool in_company, lease_mode lease) {
    trial undisturbed{&what, in_company, step_fault::none, 0, 0, {}};
    run(undisturbed, lease);
    for (int kind = 1; kind < step_faults; ++kind) {
      for (int step = 1; step <= undisturbed.steps; ++step) {
        trial one{&what, in_company, static_cast<step_fault>(kind), step, 0, {}};
        run(one, lease);
      }
    }
  }

  int runs() const noexcept { return runs_; }
  int broken() const noexcept { return broken_; }

 private:
  void run(trial& one, lease_mode lease) {
    const auto name = trial_name(one, lease);
    const bool chosen = name.find(filter_) != name.npos;
    const bool faulty = one.kind != step_fault::none;
    if (faulty && (!chosen || ++seen_ % every_ != 0)) return;
    const auto result = perform(one, lease, seed_, trace_ && chosen);
    ++runs_;
    if (trace_ && chosen) std::printf("%s: %d steps, \"%s\"\n", name.c_str(), one.steps, one.end.message().c_str());
    if (!result.broken) return;
    ++broken_;
    std::printf("%s\n", line_of(name, *result.broken, seed_).c_str());
  }

  std::string filter_;
  int every_;
  std::uint64_t seed_;
  bool trace_;
  int seen_ = 0;  // trials with a fault that match the filter
  int runs_ = 0;
  int broken_ = 0;
};

}  // namespace

int run_single_faults(const std::string& filter, int every, std::uint64_t seed, bool trace) {
  trials all(filter, every, seed, trace);
  progress_line shown;
  std::size_t done = 0;
  for (const auto& each : scripts()) {
    shown.show(static_cast<double>(done++) / static_cast<double>(scripts().size()), each.name);
    for (bool in_company : {false, true}) {
      if (in_company && !each.uses_line) continue;
      for (auto lease : {lease_mode::standard, lease_mode::strict}) all.run(each, in_company, lease);
    }
  }
  shown.clear();
  std::printf("single faults         %d runs of %zu operations, %d broken\n", all.runs(), scripts().size(),
              all.broken());
  return all.broken() ? 1 : 0;
}

std::optional<std::string> try_any_fault(std::uint64_t seed) {
  chance draw(seed, single_fault_stream);
  const auto& what = scripts()[draw.below(scripts().size())];
  const bool in_company = what.uses_line && draw.one_in(2);
  const auto lease = draw.one_in(2) ? lease_mode::strict : lease_mode::standard;
  trial undisturbed{&what, in_company, step_fault::none, 0, 0, {}};
  auto result = perform(undisturbed, lease, seed, false);
  if (result.broken) return line_of(trial_name(undisturbed, lease), *result.broken, seed);
  if (undisturbed.steps == 0) return std::nullopt;
  const auto kind = static_cast<step_fault>(1 + draw.below(step_faults - 1));
  const auto step = static_cast<int>(1 + draw.below(static_cast<std::uint64_t>(undisturbed.steps)));
  trial one{&what, in_company, kind, step, 0, {}};
  result = perform(one, lease, seed, false);
  if (!result.broken) return std::nullopt;
  return line_of(trial_name(one, lease), *result.broken, seed);
}

}  // namespace zkrecipes::simulation
