// Which errors end a run that goes on by itself, and which are waited out.
#pragma once

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Whether people mend what the servers refuse with this error: rights are granted again, a folder is made again.
inline bool is_mended_by_people(const error_code& error) {
  return error == errc::no_auth || error == errc::no_node || error == errc::no_children_for_ephemerals ||
         error == errc::invalid_acl;
}

/// The one rule for all recipes that run until they are stopped. Losses, lost replies and busy servers pass by. What
/// people mend ends a run that has never worked, because its user has to be told of a mistake; behind a first success
/// it is waited out with growing pauses, and shown by the status. All else stays as it is, and ends the run.
inline bool mends(const error_code& error, bool has_worked) {
  if (!error) return true;
  if (forbids_retry(error)) return false;
  const bool passes_by = is_loss(error) || may_have_happened(error) || is_server_refusal(error);
  return passes_by || (has_worked && is_mended_by_people(error));
}

/// Whether servers have answered the last try with an error that is waited out.
inline bool is_refused(const error_code& error) { return is_server_refusal(error) || is_mended_by_people(error); }

}  // namespace zkrecipes::detail
