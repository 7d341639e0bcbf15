#pragma once

#include <cstddef>
#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// What a gate has done so far, and what it holds at present.
struct gate_statistics {
  std::uint64_t accepted = 0;  ///< Passes that were given, at once or after a wait.
  std::uint64_t waited = 0;    ///< Callers that began to wait.
  std::uint64_t declined = 0;  ///< Callers that were told `declined`. `try_enter` does not count.
  std::uint64_t evicted = 0;   ///< Passes that became invalid because of `gate_options::safety`.
  std::size_t active = 0;      ///< Keys that are being processed.
  std::size_t waiting = 0;     ///< Callers that wait.
};

}  // namespace zkrecipes
