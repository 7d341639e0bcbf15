// The processes of the demonstration. Each of `consume`, `produce` and `direct` runs one of them from start to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/session_options.hpp>

#include "workload.hpp"

namespace demo {

/// Where messages are.
enum class source_kind { queue, topic, redis, rabbitmq };

/// As options and lines call them.
inline const std::map<std::string, source_kind>& source_names() {
  static const std::map<std::string, source_kind> all{{"queue", source_kind::queue},
                                                      {"topic", source_kind::topic},
                                                      {"redis", source_kind::redis},
                                                      {"rabbitmq", source_kind::rabbitmq}};
  return all;
}

inline bool has_broker(source_kind which) { return which == source_kind::redis || which == source_kind::rabbitmq; }

inline std::string name_of(source_kind which) {
  for (const auto& [name, each] : source_names()) {
    if (each == which) return name;
  }
  return {};
}

// The session's root, the paths below it, and the producer's name.
inline constexpr char election_path[] = "/consumer";
inline constexpr char queue_path[] = "/queue";
inline constexpr char group_path[] = "/group";
inline constexpr char topic_path[] = "/topic";
inline constexpr char streams_path[] = "/streams";
inline constexpr char queues_path[] = "/queues";  // of RabbitMQ
inline constexpr char source_group[] = "demo";    // of the topic, and of the streams
inline constexpr char lanes_path[] = "/lanes";
inline constexpr char pace_path[] = "/pace";
inline constexpr char results_path[] = "/results";
inline constexpr char root[] = "/demo";
inline constexpr char producer_name[] = "demo";

/// After this many failed attempts a message becomes a dead letter.
inline constexpr std::int32_t attempts_limit = 3;

/// While this file is in the folder of the phases, the database that `process` asks is away.
inline constexpr char outage_file[] = "outage";

/// The options that all sessions share. The timeout is short, so that a crash is overcome while somebody watches.
zkrecipes::session_options session_options(const std::string& hosts,
                                           std::chrono::milliseconds timeout = std::chrono::seconds(4));

struct consumer_settings {
  std::string hosts;
  std::string id;
  std::filesystem::path folder;  ///< The phases of its terms are logged to the file `id` there.
  zkrecipes::message_order order = zkrecipes::message_order::strict;
  std::chrono::milliseconds timeout{4'000};   ///< The timeout of its session.
  std::chrono::milliseconds deadline{1'000};  ///< The deadline of its hand-over.
  std::uint32_t shards = 0;                   ///< 0: it consumes everything while it is elected.
  source_kind source = source_kind::queue;
  std::chrono::milliseconds grace{4'000};  ///< For so long its shards wait for it to come back.
  std::string guardian;                    ///< The socket of the guardian. Empty: there is none.
  std::string broker;                      ///< The address of Redis or RabbitMQ.
  bool defaults = false;                   ///< The options of the library, instead of those that make all faster.
};

/// The settings of the topic, which all processes share.
zkrecipes::topic_options topic_settings(std::uint32_t shards);

/// Runs a consumer until SIGTERM or SIGINT: it works whenever it is elected.
int consume(const consumer_settings& how);

/// Runs a member of the shard group until SIGTERM or SIGINT; with SIGUSR1 it gives everything away first.
int own_shards(const consumer_settings& how);

struct walker_settings {
  std::string hosts;
  std::string id;                ///< Also the name of its lane.
  std::filesystem::path folder;  ///< Its steps are logged to the file `id` there.
  std::chrono::milliseconds timeout{4'000};
  std::uint64_t messages = 0;  ///< The messages of its lane.
  std::uint64_t range = 0;
  std::uint64_t seed = 0;
  std::uint64_t longest_us = 1;  ///< The longest pause between two steps.
};

/// Works off a lane, with a step of its track for each message, until SIGTERM or SIGINT.
int walk(const walker_settings& how);

/// Becomes the guardian program, which ends with us. Returns only if there is none. \throws std::system_error
int guard(const std::string& socket);

struct producer_settings {
  std::string hosts;
  source_kind source = source_kind::queue;
  std::string broker;       ///< The address of Redis or RabbitMQ.
  std::uint64_t first = 1;  ///< The first message that it puts.
  std::uint64_t last = 0;   ///< 0: that of the workload.
  std::chrono::milliseconds duration{30'000};
};

/// Puts messages, spread over `duration`. Continues where an earlier run stopped.
int produce(const producer_settings& how, const workload& work);

struct direction {
  workload_options work;  ///< With shards: a shard group works, else one elected consumer.
  zkrecipes::message_order order = zkrecipes::message_order::strict;
  int consumers = 3;     ///< Processes.
  int kills = 1;         ///< How often the leading consumer is killed; with shards, an owner or the planner.
  int server_kills = 1;  ///< How often the leader of the ensemble is killed.
  int changes = 0;       ///< How often an owner of shards is paused, restarted, drained or cut off.
  /// Where the messages are. With several of them the run moves from one to the next.
  std::vector<source_kind> sources{source_kind::queue};
  int broker_kills = 0;     ///< How often a node of the broker is killed.
  int incidents = 0;        ///< How often the surroundings fail; with any, consumers have the default options.
  int broker_nodes = 1;     ///< How many nodes RabbitMQ has.
  std::uint64_t range = 0;  ///< With one: processes with a lane each move at the same pace.
  bool guardian = false;    ///< A guardian runs beside the consumers.
  bool json = false;
};

/// Starts the servers and the other processes, injects faults, and checks the results.
int direct(const direction& how);

}  // namespace demo
