// The network between clients and brokers of messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>

#include "backend/link.hpp"
#include "world/clockwork.hpp"
#include "world/pipe.hpp"

namespace zkrecipes::simulation {

// A connection between a client and a broker: two pipes of bytes.

/// One end of a connection between a client and a broker.
/// It is called when something arrives at this end.
class wire_end {
 public:
  /// The broker has accepted the connection. At the client's end only, before anything else but `lose`.
  virtual void connected() {}
  virtual void receive(std::string_view bytes) = 0;
  /// The other end has received bytes of ours.
  virtual void drained() {}
  /// The connection is over, as far as this end can tell. Nothing is called after this.
  virtual void lose(const error_code& why) = 0;

 protected:
  ~wire_end() = default;
};

/// Bytes arrive in order, in pieces of any size. It knows nothing of what they mean.
class broker_wire : public std::enable_shared_from_this<broker_wire> {
 public:
  enum class side { client, broker };
  enum class notice { both, client, broker, none };

  /// `most`: the longest delay in one direction. `client`: the number of its process.
  broker_wire(clockwork& clock, std::uint64_t seed, std::uint64_t number, int client, span most);

  std::uint64_t number() const noexcept { return number_; }
  int client() const noexcept { return client_; }
  /// Whether this end has not closed it, and has not noticed that it is over.
  bool is_open(side which) const { return at(which).is_open; }

  void attach(side which, std::weak_ptr<wire_end> end) { at(which).end = std::move(end); }
  /// The broker has accepted: the client is told.
  void connect();
  /// The broker does not accept: the client is told.
  void refuse();
  void send(side from, std::string_view bytes);
  /// Bytes that this end has sent and that have not arrived.
  std::size_t unread(side from) const { return at(from).unread; }
  /// This end closes the connection. The other end notices when what was sent has arrived; the last of it may be lost.
  void close(side which);

  // Faults.
  /// The machine of this end has gone, without a word.
  void vanish(side which);
  /// The connection is lost, with what is on its way in both directions.
  void cut(notice who);
  void freeze(side from) { at(from).out->freeze(); }
  void thaw();

 private:
  struct half {
    pipe_ptr out{};  // from this end to the other
    std::size_t unread = 0;
    std::weak_ptr<wire_end> end{};
    bool is_open = true;
  };

  half& at(side which) { return halves_[static_cast<std::size_t>(which)]; }
  const half& at(side which) const { return halves_[static_cast<std::size_t>(which)]; }
  static side other(side which) { return which == side::client ? side::broker : side::client; }
  std::size_t piece(std::size_t left);
  void arrive(side to, std::string_view bytes);
  void lose_later(side which);
  void lose(side which, const error_code& why);

  clockwork& clock_;
  chance chance_;
  std::uint64_t number_;
  int client_;
  span most_;
  std::array<half, 2> halves_;
};

using broker_wire_ptr = std::shared_ptr<broker_wire>;

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
