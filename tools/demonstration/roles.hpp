// The processes of the demonstration. Each of `consume`, `produce` and `direct` runs one of them from start to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <zkrecipes/queue_consumer_options.hpp>
#include <zkrecipes/session_options.hpp>

#include "workload.hpp"

namespace demo {

// The session's root, the paths below it, and the producer's name.
inline constexpr char election_path[] = "/consumer";
inline constexpr char queue_path[] = "/queue";
inline constexpr char results_path[] = "/results";
inline constexpr char root[] = "/demo";
inline constexpr char producer_name[] = "demo";

/// After this many failed attempts a message becomes a dead letter.
inline constexpr std::int32_t attempts_limit = 3;

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
};

/// Runs a consumer until SIGTERM or SIGINT: it works whenever it is elected.
int consume(const consumer_settings& how);

/// Puts the messages into the queue, spread over `duration`. Continues where an earlier run stopped.
int produce(const std::string& hosts, const workload& work, std::chrono::milliseconds duration);

struct direction {
  workload_options work;
  zkrecipes::message_order order = zkrecipes::message_order::strict;
  int kills = 1;         ///< How often the leading consumer is killed.
  int server_kills = 1;  ///< How often the leader of the ensemble is killed.
  bool json = false;
};

/// Starts the servers and the other processes, injects faults, and checks the results.
int direct(const direction& how);

}  // namespace demo
