// One process with one session on a simulated ensemble of one server, in virtual time. The test decides which
// connections are established.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <zkrecipes/session.hpp>

#include "world/sim_world.hpp"

namespace zkrecipes::test {

/// How a connection attempt of the session ends.
enum class door { open, shut, no_descriptors, bad_credentials };

struct gate {
  door stands = door::open;
  int still_let_in = 0;  ///< This many connections are established, whatever `stands` says.
};

class setting final : private simulation::ensemble_observer {
 public:
  explicit setting(door first = door::open, session_options with = {});
  ~setting();
  setting(const setting&) = delete;

  session& zk() noexcept { return *zk_; }
  simulation::process& inside() noexcept { return *inside_; }
  gate& entrance() noexcept { return *gate_; }
  void break_connection();
  /// The server ends the session; the client learns it when it connects.
  void expire();
  /// Keeps an object that is to be destroyed with the process.
  void keep(std::shared_ptr<void> what) { kept_.push_back(std::move(what)); }

  /// Lets time pass until the condition holds, `longest` at most. False: it does not hold.
  bool wait(simulation::span longest, const std::function<bool()>& condition);
  void pass(simulation::span how_long);
  lease_clock::time_point now() { return inside_->now(); }
  /// The ephemeral nodes of the session, as the ensemble has them.
  std::size_t ephemerals() const { return servers_.committed_state().ephemerals(zk_->status().session_id).size(); }
  bool ran_away() const noexcept { return inside_->ran_away(); }

 private:
  void committed(const simulation::entry&) override {}
  void received(const simulation::connection&, const backend::request&) override {}
  void watch_fired(const simulation::connection&, const backend::watch_event&) override {}

  simulation::clockwork clock_;
  simulation::journal notes_{clock_, false};
  simulation::ensemble servers_;
  simulation::process_ptr inside_;
  simulation::connection_ptr wire_;
  std::shared_ptr<gate> gate_ = std::make_shared<gate>();
  std::optional<session> zk_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace zkrecipes::test
