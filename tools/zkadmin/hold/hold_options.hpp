// What `zkadmin lock` and `zkadmin lead` are asked to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zkadmin {

enum class hold_kind { lock, read, write, semaphore, leadership };

struct hold_options {
  hold_kind kind = hold_kind::lock;
  std::int32_t permits = 0;  ///< Size of the semaphore.
  std::string id{};          ///< As the others see us. Empty: host:pid.
  bool waits = true;         ///< For others that have it or are in line.
  std::optional<std::chrono::milliseconds> wait_limit{};
  std::chrono::milliseconds grace{5'000};  ///< Between SIGTERM and SIGKILL.
  std::chrono::milliseconds session_timeout{10'000};
  bool again = false;                ///< After a loss or a resignation: get in line once more.
  std::vector<std::string> words{};  ///< The command and its arguments.
};

}  // namespace zkadmin
