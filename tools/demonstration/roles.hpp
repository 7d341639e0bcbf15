// The processes of the demonstration. Each function is the whole life of one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <zkrecipes/session_options.hpp>

namespace demo {

// Where everything is kept, below the session's root.
inline constexpr char election_path[] = "/consumer";
inline constexpr char queue_path[] = "/queue";
inline constexpr char results_path[] = "/results";
inline constexpr char root[] = "/demo";
inline constexpr char producer_name[] = "demo";

/// All share the timeout: short, so that a crash is got over while one watches.
zkrecipes::session_options session_options(const std::string& hosts);

/// Works whenever it is elected, until SIGTERM. The phases of its terms are written into a file of its own in `folder`.
int consume(const std::string& hosts, const std::string& id, const std::filesystem::path& folder);

/// Puts the numbers 1 to `messages` into the queue, spread over `duration`; goes on where an earlier run stopped.
int produce(const std::string& hosts, std::uint64_t messages, std::chrono::milliseconds duration);

struct direction {
  std::uint64_t messages = 2000;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Starts the servers and the other processes, makes trouble, and checks what came out.
int direct(const direction& how);

}  // namespace demo
