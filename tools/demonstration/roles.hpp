// The processes of the demonstration. Each of `consume`, `produce` and `direct` runs one of them from start to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <zkrecipes/session_options.hpp>

namespace demo {

// The session's root, the paths below it, and the producer's name.
inline constexpr char election_path[] = "/consumer";
inline constexpr char queue_path[] = "/queue";
inline constexpr char results_path[] = "/results";
inline constexpr char root[] = "/demo";
inline constexpr char producer_name[] = "demo";

/// The options that all sessions share. The timeout is short, so that a crash is overcome while somebody watches.
zkrecipes::session_options session_options(const std::string& hosts);

/// Runs a consumer until SIGTERM or SIGINT: it works whenever it is elected, and logs the phases of its terms to the
/// file `id` in `folder`.
int consume(const std::string& hosts, const std::string& id, const std::filesystem::path& folder);

/// Puts the numbers 1 to `messages` into the queue, spread over `duration`. Continues where an earlier run stopped.
int produce(const std::string& hosts, std::uint64_t messages, std::chrono::milliseconds duration);

struct direction {
  std::uint64_t messages = 2000;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Starts the servers and the other processes, injects faults, and checks the results.
int direct(const direction& how);

}  // namespace demo
