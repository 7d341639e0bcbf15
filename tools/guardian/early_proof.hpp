// Proofs of death that come before a pidfd tells it: the kernel frees the memory of a process, or writes its core dump,
// before the process counts as ended. They are details of the kernel, so they are used on request only.
#pragma once

#include <string>

#include "descriptor.hpp"

namespace guardian {

enum class early_sign {
  none,
  exiting,  ///< Every thread is in the kernel's exit path (PF_EXITING), which has no way back.
  dumping,  ///< A core dump is under way: one thread writes it in the kernel, and every other one waits there.
};

/// The folder /proc/PID, which stays that of this process. Empty if there is none.
descriptor open_process_folder(int pid);

early_sign look_early(int process_folder);

/// Why early proofs can not be used here: a child of ours that lives must not show the sign, and one that has exited
/// must. Empty if they can.
std::string early_proof_problem();

}  // namespace guardian
