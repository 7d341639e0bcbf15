// Secrets in the memory of the guardian.
#pragma once

#include <string>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

/// Overwrites the text before it is emptied.
void wipe(std::string& text);
/// Overwrites the password of the session and the secrets of its digests.
void wipe(zkrecipes::backend::guarded_session& session);

/// No core dump, no reading of our memory by others of the same user, no page of it in a swap file. Returns what could
/// not be done, for the log; empty if nothing.
std::string harden_process();

}  // namespace guardian
