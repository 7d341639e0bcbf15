// The rules for the messages of queues of a broker: what becomes of each, in which order, and how often.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "external/delivery_memory.hpp"
#include "model/rabbit/quorum_queue.hpp"
#include "run/stage.hpp"
#include "scenario/term_rules.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

inline constexpr std::uint32_t rabbit_shards = 2;

/// The data of a message is the name of its publisher and a number, and no two messages have the same. Its effect is
/// that the store of its shard says "<epoch> <name> <data>".
class rabbit_rules final : public rabbit_observer {
 public:
  rabbit_rules(stage& in, const queue_consumer_options& options, const rabbit_options& broker,
               const std::array<term_rules, rabbit_shards>& terms);

  // Where things are.
  static std::string election_path(std::uint32_t shard);
  static std::string result_path(std::uint32_t shard);
  static std::string memory_path(std::uint32_t shard);

  /// Whether one of the messages kills its process.
  static bool has_killer(std::uint64_t seed) { return chance(seed, 1'970).one_in(5); }

  bool kills(const std::string& data) const { return data == killer_; }
  void committed(const entry& what);
  /// `process` is called.
  void begun(const term& present, const message& item);
  /// A producer is about to be asked to put this.
  void put(const std::string& data) { put_at_.emplace(data, in_.clock().now()); }
  /// The put was told to be done.
  void confirmed(const std::string& data, std::uint32_t shard);
  bool was_deleted(std::uint32_t shard) const { return deleted_at_[shard].has_value(); }

  /// How many messages of the shard were acknowledged.
  std::uint64_t acknowledged(std::uint32_t shard) const { return acknowledged_[shard]; }
  /// How many messages are in the queues.
  std::size_t waiting() const;

 private:
  using numbers_of = std::tuple<std::string, std::uint64_t, std::string>;  // producer, epoch, key or shard

  struct fate {
    std::string id{};
    std::string key{};
    std::uint32_t shard = 0;
    std::optional<detail::numbered_id> number{};
    std::size_t copies = 0;  // in the queue
    std::size_t deliveries = 0;
    std::size_t effects = 0;
    std::size_t letters = 0;
    int begun = 0;
    bool is_known = false;   // to the memory, at some time
    bool is_placed = false;  // confirmed, and its queue was there from the begin of the put on

    std::size_t settlements() const { return effects + letters; }
  };
  struct settled_message {
    std::string data{};
    std::string epoch{};    // empty: it is a letter
    bool is_spent = false;  // it has become a letter for a reason
  };

  void queued(const std::string& queue, const rabbit_message& what) override;
  void delivered(const std::string& queue, const rabbit_message& what) override;
  void acknowledged(const std::string& queue, const rabbit_message& what) override;
  void removed(const std::string& queue, const rabbit_message& what) override;
  void dropped(const std::string& queue, const rabbit_message& what) override;
  void deleted(const std::string& queue, const messages& all) override;
  void appeared(const std::string& queue) override;
  void made(const std::string& queue, int client, bool is_present) override;
  void consumed(const std::string& queue) override;
  void misbehaved(int client, const std::string& how) override;

  std::vector<settled_message> settled_by(const entry& what) const;
  void check_settled(const settled_message& what, bool moves_memory);
  void check_effect(const settled_message& what, const fate& which);
  void check_order(const settled_message& what, const fate& which);
  bool has_kept_queue(const std::string& data, std::uint32_t shard) const;
  void check_missing(std::uint32_t shard, const std::string& text);
  void check_memory(std::uint32_t shard, const std::string& text);
  void check_size(std::uint32_t shard, const detail::delivery_memory& memory) const;

  stage& in_;
  const queue_consumer_options& options_;
  const rabbit_options& broker_;
  const std::array<term_rules, rabbit_shards>& terms_;
  std::string killer_;  // the message that kills its process; empty: none
  std::map<std::string, fate> fates_;
  std::array<std::set<std::string>, rabbit_shards> present_;  // in the queue
  std::array<std::set<std::string>, rabbit_shards> gone_;     // with the queue
  std::array<std::set<std::string>, rabbit_shards> missed_;
  std::map<numbers_of, std::uint64_t> last_;  // number that was settled
  std::array<std::uint64_t, rabbit_shards> acknowledged_{};
  std::map<std::string, instant> put_at_;  // by data; of producers
  std::array<std::optional<instant>, rabbit_shards> deleted_at_;
  std::array<std::optional<instant>, rabbit_shards> made_again_at_;  // none: never deleted, or it is away
  std::array<std::optional<instant>, rabbit_shards> remembers_since_;
  std::array<std::vector<instant>, rabbit_shards> consumed_at_;
};

}  // namespace zkrecipes::simulation
