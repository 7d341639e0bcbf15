// One run: the ensemble, the clients, the faults, and the rules that must hold all the time.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "guardian/dead_session.hpp"
#include "run/plan.hpp"
#include "world/clockwork.hpp"
#include "world/sim_world.hpp"

namespace zkrecipes::simulation {

/// The guardian of a process that has died, as a process of its own.
/// Ends one session, some time after the death of its process.
class undertaker {
 public:
  /// `where.inside`: the guardian's process.
  undertaker(const surroundings& where, detail::dead_session what);
  ~undertaker();
  undertaker(const undertaker&) = delete;

  void begin();
  const process& inside() const noexcept { return *where_.inside; }
  /// Nothing as long as it is at work.
  const std::optional<detail::dead_session_result>& result() const noexcept { return result_; }

 private:
  surroundings where_;
  detail::dead_session what_;
  detail::scheduler_ptr on_;
  std::optional<detail::dead_session_result> result_;
};

// Keeps track of how long two holders believe at the same time to own the same thing.

/// The belief of one possible holder, in true time.
struct belief {
  bool held = false;
  instant until{0};  ///< The belief ends here unless it is prolonged.
  std::int64_t token = 0;
};

class belief_keeper {
 public:
  explicit belief_keeper(std::size_t holders) : present_(holders), running_(holders * holders) {}

  /// `holder` believes this from now on.
  void update(instant now, std::size_t holder, belief what);
  /// The longest uninterrupted overlap of any two.
  span longest() const noexcept { return longest_; }

 private:
  void account(instant now);

  std::vector<belief> present_;
  std::vector<span> running_;  ///< For each pair the present overlap, which may still go on.
  instant last_{0};
  span longest_{0};
};

class stage;

/// The program that a simulated process runs. It is called, and calls back, on the process's executor.
class program {
 public:
  virtual ~program() = default;
  virtual void cancel(asio::cancellation_type type) = 0;  ///< Cancel the operation that is under way, if any.
  virtual void stop() = 0;  ///< Give everything back; `idle` once that is done. The session stays.
  virtual bool idle() const = 0;
  virtual void close() = 0;  ///< End the session; `finished` once that is done.
  virtual bool finished() const = 0;
  virtual std::string own_node() const = 0;  ///< A node for an operator to remove; empty if there is none.
  /// The belief of one contender in the process.
  virtual belief believes(int /*contender*/) const { return {}; }
};

/// Starts the programs of all clients and checks the rules that must hold for what they do together.
class scenario {
 public:
  virtual ~scenario() = default;
  virtual std::unique_ptr<program> start(stage& in, int client, session with) = 0;
  /// How many contenders each process has.
  virtual int contenders() const { return 1; }
  /// Whether each contender of a process contends for a thing of its own: contender i of each process for thing i. Else
  /// all contend for one.
  virtual bool contends_for_each() const { return false; }
  virtual void committed(const entry&) {}
  /// Is told what the log of the session of a process tells; none: nothing is logged.
  virtual log_hook log_of(int /*client*/) { return {}; }
  /// What the guardian of a process was told of this session of it; nothing: there is no guardian.
  virtual std::optional<std::vector<detail::held_term>> told_of(std::int64_t /*session*/) const { return std::nullopt; }
  /// A request has arrived at a server and is not executed yet.
  virtual void received(const connection&, const backend::request&) {}
  virtual void watch_fired(const connection&, const backend::watch_event&) {}
  /// Asked after all faults are over. True once everything has happened that must happen then.
  virtual bool recovered() = 0;
  virtual void healed() {}
  /// All clients are idle: check that no node is left that should be gone.
  virtual void check_quiet(const tree& nodes) = 0;
  /// Whether nothing is under way between the clients any more.
  virtual bool settled() { return true; }
};

using scenario_maker = std::function<std::unique_ptr<scenario>(stage& in)>;

struct outcome {
  std::optional<violation> broken;
  std::uint64_t hash = 0;
  instant virtual_time{0};
  std::array<std::uint64_t, fault_kinds> faults{};
  span overlap_standard{0};
  span overlap_strict{0};
  std::uint64_t requests = 0;
};

class stage final : public ensemble_observer {
 public:
  stage(plan what, const scenario_maker& make, bool print);
  ~stage();

  outcome run();

  // For the scenario.
  void fail(std::string invariant, std::string detail);
  void require(bool condition, const char* invariant, const std::string& detail = {}) {
    if (!condition) fail(invariant, detail);
  }
  clockwork& clock() noexcept { return clock_; }
  journal& notes() noexcept { return notes_; }
  const plan& what() const noexcept { return plan_; }
  process& inside(int client) { return *clients_[static_cast<std::size_t>(client)].inside; }
  ensemble& servers() noexcept { return *servers_; }
  /// The network to brokers of messages. None listens there but those of the scenario.
  broker_network& brokers() noexcept { return brokers_; }
  /// The present connection of a client, if any.
  const connection_ptr& wire(int client) const { return clients_[static_cast<std::size_t>(client)].wire; }
  program* running(int client) { return clients_[static_cast<std::size_t>(client)].runs.get(); }
  /// Runs `what` at a client after `delay` by the client's clock, unless its process has been killed by then.
  void later(int client, span delay, std::function<void()> what);
  /// Kills the process of a client in the next moment, and starts it again a little later.
  void crash(int client);
  /// The scenario itself takes nodes or sessions from their owners.
  void take_leases() { plan_.takes_leases = true; }
  /// Asks all programs again what they believe: the scenario judges otherwise from now on.
  void look_again();
  /// Whether a guardian ends this session, or has ended it, because its process is dead.
  bool is_guarded(std::int64_t session) const { return dead_sessions_.contains(session); }
  /// Whether a contender in this process still believes in the ownership with this token.
  bool is_believed(int client, std::int64_t token) const;

 private:
  struct slot {
    process_ptr inside;
    std::unique_ptr<program> runs;
    connection_ptr wire;
    std::uint64_t lives = 0;
    std::uint64_t requests = 0;  ///< Requests received in this second.
    std::int64_t second = 0;
    bool is_to_stop = false;
  };

  void committed(const entry& what) override;
  void received(const connection& from, const backend::request& what) override;
  void watch_fired(const connection& to, const backend::watch_event& event) override;

  void start(int client);
  void stop(slot& which);
  void stepped(int client);
  void kill(int client);
  void die(int client);
  void call_guardian(std::int64_t session, detail::dead_session what);
  void believe(int client, int contender, belief what);
  span longest_overlap() const;
  void schedule(const fault& what);
  void begin(const fault& what);
  void end(const fault& what);
  void begin_at_connection(const fault& what);
  void depose(const fault& what);
  int a_believer(int otherwise) const;
  void begin_at_server(const fault& what);
  bool is_alone(const fault& what) const;
  void heal();
  void advance(instant until);
  bool advance_until(instant limit, const std::function<bool()>& condition);
  void wind_down();

  plan plan_;
  clockwork clock_;
  journal notes_;
  std::optional<violation> broken_;
  outcome result_;
  std::unique_ptr<ensemble> servers_;
  broker_network brokers_;
  std::unique_ptr<scenario> scenario_;
  std::vector<belief_keeper> beliefs_;  // by thing
  std::vector<slot> clients_;
  bool healed_ = false;
  std::set<std::int64_t> dead_sessions_;  // those that a guardian ends
  std::vector<std::unique_ptr<undertaker>> undertakers_;
};

outcome simulate(const plan& what, const scenario_maker& make, bool print);

}  // namespace zkrecipes::simulation
