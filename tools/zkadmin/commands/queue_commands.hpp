// The commands about dead letters. Each throws `failure`.
#pragma once

#include "cluster/letter_change.hpp"
#include "commands/commands.hpp"
#include "settings/queue_request.hpp"

namespace zkadmin {

/// Prints the oldest dead letters of a queue, or of a group of a topic.
exit_code show_letters(surroundings& around, const settings& wanted, const queue_request& asked, output_format format);

/// Puts letters back, or deletes them; without `read_write` only shows the requests.
exit_code change_letters(surroundings& around, const settings& wanted, const queue_request& asked, letter_fate fate);

/// Puts all letters of a parked key back; without `read_write` only shows the first request.
exit_code unpark(surroundings& around, const settings& wanted, const queue_request& asked);

}  // namespace zkadmin
