// The exit statuses of `zkadmin lock` and `zkadmin lead` that are not those of the command.
#pragma once

namespace zkadmin {

enum class hold_status {
  lost = 121,       ///< The ownership ended, or was about to: the command was ended.
  asked = 122,      ///< Somebody asked for the ownership: the command was ended.
  taken = 123,      ///< Somebody else has it, and we were not to wait.
  timed_out = 124,  ///< It was not ours within the time given.
  failed = 125,     ///< zkadmin failed before the command was started.
  cannot_run = 126,
  not_found = 127,
  by_signal = 128,  ///< Plus the number of the signal.
};

constexpr int to_int(hold_status status) noexcept { return static_cast<int>(status); }

}  // namespace zkadmin
