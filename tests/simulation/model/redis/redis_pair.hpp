// Two brokers: a primary, and a replica that takes its place.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/redis/redis_store.hpp"
#include "world/broker_network.hpp"

namespace zkrecipes::simulation {

class redis_peer;

/// Each write is on the disk of the primary, and at the replica, before it is answered, unless `fall_behind` says
/// otherwise.
class redis_pair {
 public:
  static constexpr int nodes = 2;
  /// What the primary answers instead of doing what it is asked for.
  enum class trouble {
    none,
    loading,        ///< It has begun only now.
    busy,           ///< With somebody's script.
    out_of_memory,  ///< It does not write.
    read_only,      ///< It has become a replica for a while. Clients that wait in XREAD are told.
  };

  redis_pair(clockwork& clock, broker_network& network, std::uint64_t seed, redis_watcher& watcher);
  ~redis_pair();

  /// The value for `redis_options::hosts`.
  static std::string hosts();
  static constexpr const char* password = "secret";

  const redis_data& data() const noexcept { return store_.data(); }
  /// As a client whose connection is never lost. False: it is refused, or there is no primary.
  bool put(const std::string& stream, const std::string& key, const std::string& data);

  // Faults. All are of the primary.
  /// From now on nothing that is written comes to its disk or to the replica.
  void fall_behind();
  /// It is killed. What it has not on its disk is lost.
  void crash();
  /// The killed broker is back; after a fail-over it is the replica.
  void restart();
  /// The replica takes its place, with what it has. The clocks of the two differ.
  void fail_over();
  /// Its process stands still, and connections to it stay.
  void stop();
  void wake();
  void set(trouble what);
  /// The next reply to a write is lost, with its connection.
  void lose_reply() { is_losing_ = true; }
  /// An operator deletes a stream.
  void remove(const std::string& stream);
  /// Ends all that lasts, and what was not lost by now is not lost any more.
  void heal();

  // For the peers.
  clockwork& clock() noexcept { return clock_; }
  bool is_primary(int node) const noexcept { return node == primary_ && trouble_ != trouble::read_only; }
  bool is_stopped(int node) const noexcept { return node == primary_ && is_stopped_; }
  /// The reply. It is done.
  std::string execute(int node, const redis_command& command);
  /// The reply to an XREAD; empty: there is nothing, and nothing speaks against waiting.
  std::string read(int node, const std::string& stream, const std::string& behind, std::size_t most);
  /// Whether the reply to this command is lost.
  bool loses_reply(const redis_command& command);

 private:
  struct member final : broker_host {
    member(redis_pair& pair, int its_number) : of(pair), number(its_number) {}
    void accept(const std::shared_ptr<broker_wire>& over) override { of.accept(number, over); }

    redis_pair& of;
    int number;
  };

  static backend::endpoint address(int node);
  void accept(int node, const broker_wire_ptr& over);
  std::string refusal_of(int node, const redis_command& command) const;
  std::uint64_t now() const;
  void end_all(int node);
  void look_all();

  clockwork& clock_;
  broker_network& network_;
  chance chance_;
  redis_store store_;
  std::array<std::unique_ptr<member>, nodes> members_;
  std::vector<std::shared_ptr<redis_peer>> peers_;
  std::optional<redis_data> copy_;  // what the disk and the replica have, if it is older
  int primary_ = 0;
  bool is_up_ = true;
  bool is_stopped_ = false;
  bool is_losing_ = false;
  trouble trouble_ = trouble::none;
};

}  // namespace zkrecipes::simulation
