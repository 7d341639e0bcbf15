// The network between clients and brokers of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/endpoint.hpp"
#include "world/broker_wire.hpp"

namespace zkrecipes::simulation {

class broker_wire;

/// A broker that clients connect to.
class broker_host {
 public:
  /// A client has connected. The broker attaches its end to the wire, or closes it.
  virtual void accept(const std::shared_ptr<broker_wire>& over) = 0;

 protected:
  ~broker_host() = default;
};

/// Brokers of any kind listen at addresses. It is the same for all protocols.
class broker_network {
 public:
  /// What a client meets at an address.
  enum class presence {
    there,
    refusing,     ///< The broker does not run.
    unreachable,  ///< Nothing comes back. Tries that were begun meanwhile stay without an answer.
  };

  broker_network(clockwork& clock, std::uint64_t seed, span most_delay)
      : clock_(clock), seed_(seed), chance_(seed, 2'900), most_delay_(most_delay) {}

  /// `host` outlives the last moment of the clock.
  void listen(const backend::endpoint& at, broker_host& host);
  /// A wire that is not connected yet. `from`: the client's end.
  broker_wire_ptr connect(int client, const backend::endpoint& to, const std::shared_ptr<wire_end>& from);
  /// The process at this end of the wire was killed. In one case of four its machine has gone with it.
  void lose_process(broker_wire& wire);

  // Faults.
  void set(const backend::endpoint& at, presence how);
  /// Those that are open at one of their ends, in the order in which they were made.
  std::vector<broker_wire_ptr> wires() const;
  /// Ends all that lasts. Connections that were lost stay lost.
  void heal();

  /// For tests to look at: wires that are open at the clients' ends.
  std::size_t open_at_clients() const;

 private:
  struct place {
    broker_host* host = nullptr;
    presence how = presence::there;
  };

  void arrive(const broker_wire_ptr& wire, const std::string& at);
  void forget_closed();

  clockwork& clock_;
  std::uint64_t seed_;
  chance chance_;
  span most_delay_;
  std::map<std::string, place> places_;  // by address
  std::vector<broker_wire_ptr> wires_;
  std::uint64_t made_ = 0;
};

}  // namespace zkrecipes::simulation
