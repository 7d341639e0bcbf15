// The folder of the dead letters of a queue, or of a group of a topic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Reads all letters, oldest first. Other nodes are ignored. With an error the letters are those that were read before.
awaitable<outcome<std::vector<dead_letter>>> read_letters(core_ptr session, std::string folder);
/// Removes one. Errors: `bad_arguments` (a name with a slash), `outcome_unknown` (a reply was lost, and the letter has
/// gone), and those of `core::perform`.
awaitable<outcome<>> discard_letter(core_ptr session, std::string folder, std::string name);
/// After a lost reply to the transaction that removes a letter: an undone one leaves it in place. Errors:
/// `outcome_unknown` (it has gone), and those of `core::perform`.
awaitable<error_code> check_letter(core_ptr session, std::string path);

/// The transaction that puts a letter back at the end of its queue, if that has no limit. Nothing if it is no letter of
/// a queue of this kind. `version`: of the letter's node.
std::optional<transaction> revival_of(const queue_layout& where, const dead_letter& which,
                                      std::int32_t version = any_version);

}  // namespace zkrecipes::detail
