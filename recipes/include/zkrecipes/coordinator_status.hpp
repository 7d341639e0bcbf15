// What a consumer coordinator does at the moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// The phases of a run.
enum class coordinator_phase {
  idle,          ///< There is no run: it has not begun yet, or it has ended.
  campaigning,   ///< It gets in line, waits for its turn, or pauses after a term.
  taking_over,   ///< First in line: it waits for the hand-over of the predecessor, and begins its term.
  inaugurating,  ///< The career's `inaugurate` runs.
  executing,     ///< The career's `execute` runs, again and again.
  handing_over,  ///< The message in hand is finished, then the career's `hand_over` runs.
  ending,        ///< The career's `ended` runs, and the place in line is given up.
};

const char* to_string(coordinator_phase phase) noexcept;

/// The state of a coordinator, as it knows it without asking a server.
struct coordinator_status {
  coordinator_phase phase = coordinator_phase::idle;
  /// When the phase began; the clock's zero before the first run.
  lease_clock::time_point since{};
  /// The term that was last seen in the record, our own while we lead; 0: none. The record is read on the way into the
  /// line, and while we are next in line. `election::async_view` asks a server.
  std::int64_t epoch = 0;
  /// Id of the leader of that term, which may have ended meanwhile. Empty if it is not known.
  std::string leader{};
  /// Number of candidates ahead of us as last seen; nothing while we are not in line.
  std::optional<std::size_t> ahead{};
  /// Why we are not in line, while it is waited until people mend it (`no_auth`, say), or a server is less busy.
  error_code trouble{};
};

}  // namespace zkrecipes
