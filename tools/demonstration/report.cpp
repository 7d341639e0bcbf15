#include "report.hpp"

#include <cstdio>
#include <sstream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace demo {

namespace json = boost::json;

std::string to_json(const summary& outcome) {
  json::array terms;
  for (const auto& [epoch, term] : outcome.terms) {
    terms.push_back(json::object{{"epoch", epoch},
                                 {"leader", term.leader},
                                 {"ended", term.ended},
                                 {"takeover", term.takeover},
                                 {"gap_ms", term.gap_ms}});
  }
  return json::serialize(json::object{{"servers", outcome.servers},
                                      {"consumers", outcome.consumers},
                                      {"produced", outcome.counts.produced},
                                      {"processed", outcome.counts.processed},
                                      {"lost", outcome.counts.lost},
                                      {"duplicated", outcome.counts.duplicated},
                                      {"unexpected", outcome.counts.unexpected},
                                      {"out_of_order", outcome.counts.out_of_order},
                                      {"overlapping_terms", outcome.counts.overlapping_terms},
                                      {"overlapping_phases", outcome.counts.overlapping_phases},
                                      {"parked", outcome.counts.parked},
                                      {"parked_wrongly", outcome.counts.parked_wrongly},
                                      {"not_parked", outcome.counts.not_parked},
                                      {"without_reason", outcome.counts.without_reason},
                                      {"attempts_over", outcome.counts.attempts_over},
                                      {"failed_consumers", outcome.failed_consumers},
                                      {"runs_ended", outcome.runs_ended},
                                      {"killed_by_messages", outcome.killed_by_messages},
                                      {"kills", outcome.kills()},
                                      {"server_leaders_killed", outcome.server_leaders_killed},
                                      {"hand_over_seen", outcome.saw_hand_over},
                                      {"terms", std::move(terms)},
                                      {"seconds", outcome.seconds},
                                      {"success", outcome.success()}});
}

std::string to_text(const summary& outcome) {
  std::ostringstream out;
  char line[160];
  std::snprintf(line, sizeof line, "\n%5s  %-12s %-8s %-16s %8s\n", "epoch", "leader", "ended", "takeover", "gap");
  out << line;
  for (const auto& [epoch, term] : outcome.terms) {
    std::snprintf(line, sizeof line, "%5lld  %-12s %-8s %-16s %5.0f ms\n", static_cast<long long>(epoch),
                  term.leader.c_str(), term.ended.c_str(), term.takeover.c_str(), term.gap_ms);
    out << line;
  }
  const auto& counts = outcome.counts;
  out << '\n'
      << counts.produced << " messages produced, " << counts.processed << " processed in "
      << static_cast<int>(outcome.seconds) << " s: " << counts.lost << " lost, " << counts.duplicated << " duplicated, "
      << counts.unexpected << " unexpected, " << counts.out_of_order << " out of order, " << counts.overlapping_terms
      << " effects of a term after its successor's\n"
      << counts.overlapping_phases << " phases of two terms at the same time, " << outcome.failed_consumers
      << " consumers that failed\n"
      << counts.parked << " messages parked (" << counts.parked_wrongly << " wrongly, " << counts.not_parked
      << " missing, " << counts.without_reason << " without a reason, " << counts.attempts_over
      << " after too many attempts), " << outcome.runs_ended << " runs that ended with an error\n"
      << "killed: the leading consumer " << outcome.kills() << " times by us, consumers " << outcome.killed_by_messages
      << " times by messages, the leader of the ensemble " << outcome.server_leaders_killed << " times\n"
      << (outcome.success() ? "success" : "FAILURE") << '\n';
  return out.str();
}

}  // namespace demo
