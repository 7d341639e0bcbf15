// A cluster of RabbitMQ: nodes that clients connect to, and queues, which all of them serve.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/rabbit/quorum_queue.hpp"
#include "world/broker_network.hpp"

namespace zkrecipes::simulation {

class rabbit_peer;

class rabbit_cluster {
 public:
  static constexpr int nodes = 3;

  rabbit_cluster(clockwork& clock, broker_network& network, std::uint64_t seed, rabbit_observer& observer);
  ~rabbit_cluster();

  /// The value for `rabbit_options::hosts`.
  static std::string hosts();

  /// Null: there is none.
  quorum_queue_ptr find(const std::string& queue) const;
  /// Makes it if it is not there.
  quorum_queue_ptr declare(const std::string& queue, const detail::delivery_limit& limit);
  /// As a client whose connection is never lost. False: there is no queue.
  bool put(const std::string& queue, detail::amqp_delivery what);

  // Faults. `node` is the number of one.
  /// `is_told`: connections are closed by the system of the node. Else the machine has gone.
  void crash(int node, bool is_told);
  void restart(int node);
  /// Its process stands still, and connections to it stay.
  void stop(int node);
  void wake(int node);
  void lose_leader(const std::string& queue);
  void elect(const std::string& queue);
  void lose_sight(const std::string& queue);
  /// Memory or disk is short: publishers are asked to stop, and not read any more.
  void raise_alarm();
  void end_alarm();
  /// An operator deletes it.
  void remove(const std::string& queue);
  void heal();

  // For the peers.
  clockwork& clock() noexcept { return clock_; }
  chance& dice() noexcept { return chance_; }
  rabbit_observer& observer() noexcept { return observer_; }
  bool is_stopped(int node) const { return nodes_[static_cast<std::size_t>(node)]->is_stopped; }
  /// From 4.0 on a queue without a limit has one all the same. Here it is lower than RabbitMQ's, so that it is reached.
  int major_version() const noexcept { return major_version_; }
  bool has_alarm() const noexcept { return has_alarm_; }
  void made(const std::string& queue, int client, bool is_present) { observer_.made(queue, client, is_present); }

 private:
  struct member final : broker_host {
    member(rabbit_cluster& cluster, int its_number) : of(cluster), number(its_number) {}
    void accept(const std::shared_ptr<broker_wire>& over) override { of.accept(number, over); }

    rabbit_cluster& of;
    int number;
    bool is_stopped = false;
  };

  static backend::endpoint address(int node);
  void accept(int node, const broker_wire_ptr& over);
  std::vector<std::shared_ptr<rabbit_peer>> peers_of(int node) const;
  void wake_all();

  clockwork& clock_;
  broker_network& network_;
  std::uint64_t seed_;
  chance chance_;
  int major_version_;
  rabbit_observer& observer_;
  std::array<std::unique_ptr<member>, nodes> nodes_;
  std::map<std::string, quorum_queue_ptr> queues_;
  std::vector<std::shared_ptr<rabbit_peer>> peers_;
  std::uint64_t made_queues_ = 0;
  bool has_alarm_ = false;
};

}  // namespace zkrecipes::simulation
