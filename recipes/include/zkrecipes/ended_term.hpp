// A term of an election that has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// How a term has ended, as its successor found it.
enum class term_outcome {
  retired,         ///< The leader handed over.
  confirmed_late,  ///< The leader had lost its place, and confirmed before the hand-over deadline.
  forced,          ///< The leader did not confirm before the hand-over deadline.
  stalled,         ///< Given up by the leader's own watchdog.
  died,            ///< The record said that the leader's process has died.
  unknown,         ///< An outcome that a later version of the library has recorded.
};

const char* to_string(term_outcome outcome) noexcept;

/// An ended term, from the history that the coordinators keep in the record of an election. The times are those of the
/// servers' clock: of the ZooKeeper leader that executed the write.
struct ended_term {
  using time_point = std::chrono::system_clock::time_point;

  std::int64_t epoch = 0;
  std::string leader;               ///< Its id; a long one is cut (docs/formats.md).
  std::optional<time_point> began;  ///< Nothing: it is not known.
  /// When the end was recorded. If the successor did not read that, or there was no such record, when the successor
  /// began. Nothing: it is not known.
  std::optional<time_point> ended;
  term_outcome outcome = term_outcome::unknown;
};

}  // namespace zkrecipes
