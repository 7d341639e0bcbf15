// The audit log: entries in a file, one a line, and the data of a node.
#include "change/audit.hpp"

#include "fuzz/target.hpp"

namespace fuzz::audit_target {

using namespace zkadmin;

constexpr std::size_t most_bytes = 100'000;

void read_entry(std::string_view line) {
  const auto entry = parse_audit_entry(line);
  if (!entry) return;
  const auto text = to_json_line(*entry, most_bytes);
  require(text.find('\n') == text.npos, "an entry is one line");
  const auto again = parse_audit_entry(text);
  require(again && again->id == entry->id && again->state == entry->state, "an entry reads the same");
  require(to_json_line(*again, most_bytes) == text, "an entry that was read is written the same");
}

void read_log(std::string_view data) {
  const auto log = parse_audit_log(data);
  if (!log) return;
  const audit_entry added{"f00", 1, "who@here", "test", "zkadmin set", "set /a", audit_state::begun};
  const auto text = audit_log_with(data, added);
  require(text.size() <= most_audit_bytes + data.size() + 2'000, "the log is bounded");
  const auto again = parse_audit_log(text);
  require(again && !again->empty() && again->back() == added, "the entry that was added is the last one");
  require(again->size() <= most_audit_entries, "there are so many entries at most");
}

void read_audit(std::string_view input) {
  for (const auto& each : lines_of(input)) read_entry(each);
  read_log(input);
}

const target known("audit", read_audit);

}  // namespace fuzz::audit_target
