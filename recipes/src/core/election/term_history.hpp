// The history of an election: the last terms that have ended, one text each in the record of the present term:
//
//   "7 1700000000000 1700000600000 retired billing-2"
//
// The epoch; when it began and ended, in milliseconds since 1970 by the servers' clock, 0 if that is not known; how it
// ended; the id of its leader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/election.hpp>

#include "election/term_record.hpp"

namespace zkrecipes::detail {

/// The history behind `before`, a term that another one follows in this way. `ended_ms`: when its record was last
/// written; 0: that is not known.
std::vector<std::string> history_after(const term_record& before, takeover how, std::int64_t ended_ms);

/// Those entries of a record of this epoch that can be believed: the epochs are below it, and grow. The last
/// `most_ended_terms` of them. An outcome that this version does not know is kept.
std::vector<std::string> believable(const std::vector<std::string>& entries, std::int64_t epoch);

/// When the term of this record began; 0: that is not known. `written_ms`: when the record was last written.
std::int64_t beginning_of(const term_record& record, std::int64_t written_ms);

/// The history in a record, with the end of a term from the beginning of the next one where nothing else tells it.
std::vector<ended_term> read_history(const term_record& record, std::int64_t written_ms);

}  // namespace zkrecipes::detail
