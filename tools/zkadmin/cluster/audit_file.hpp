// The audit log in a file of this machine: one JSON object a line.
#pragma once

#include <string>
#include <vector>

#include "cluster/audit_entry.hpp"

namespace zkadmin {

/// Appends one line, in one write. A file that is missing is made for its owner alone. Throws `failure`; a part of the
/// line that was written is taken away.
void append_audit_line(const std::string& file, const audit_entry& entry);

struct audit_lines {
  std::vector<audit_entry> entries;  ///< The last line of each intervention, in the order in which they began.
  std::size_t unreadable = 0;        ///< Lines that are no entries.
  bool is_cut = false;               ///< The file is longer than 1 MiB: only its end was read.
};

/// Throws `failure`, also if it is no regular file: a pipe would make us wait. A file that is missing is empty.
audit_lines read_audit_lines(const std::string& file);

}  // namespace zkadmin
