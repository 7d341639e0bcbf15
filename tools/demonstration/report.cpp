#include "report.hpp"

#include <cstdio>
#include <sstream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace demo {

namespace json = boost::json;

namespace {

json::object begin(const figures& outcome) {
  const auto& counts = outcome.counts;
  return {{"servers", outcome.servers},
          {"consumers", outcome.consumers},
          {"produced", counts.produced},
          {"processed", counts.processed},
          {"lost", counts.lost},
          {"duplicated", counts.duplicated},
          {"unexpected", counts.unexpected},
          {"out_of_order", counts.out_of_order},
          {"overlapping_terms", counts.overlapping_terms},
          {"overlapping_phases", counts.overlapping_phases},
          {"parked", counts.parked},
          {"parked_wrongly", counts.parked_wrongly},
          {"not_parked", counts.not_parked},
          {"without_reason", counts.without_reason},
          {"attempts_over", counts.attempts_over},
          {"failed_consumers", outcome.failed_consumers},
          {"runs_ended", outcome.runs_ended},
          {"killed_by_messages", outcome.killed_by_messages}};
}

std::string end(json::object all, const figures& outcome, bool success) {
  all["seconds"] = outcome.seconds;
  all["success"] = success;
  return json::serialize(all);
}

void print_counts(std::ostream& out, const figures& outcome) {
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
      << " after too many attempts), " << outcome.runs_ended << " runs that ended with an error\n";
}

const char* verdict(bool success) { return success ? "success\n" : "FAILURE\n"; }

}  // namespace

std::string to_json(const summary& outcome) {
  json::array terms;
  for (const auto& [epoch, term] : outcome.terms) {
    terms.push_back(json::object{{"epoch", epoch},
                                 {"leader", term.leader},
                                 {"ended", term.ended},
                                 {"takeover", term.takeover},
                                 {"gap_ms", term.gap_ms}});
  }
  auto all = begin(outcome);
  all["kills"] = outcome.kills();
  if (const auto gaps = outcome.gaps_after_kills(); !gaps.empty()) {
    all["gap_after_kill_ms"] = json::object{{"median", gaps[gaps.size() / 2]}, {"longest", gaps.back()}};
  }
  all["server_leaders_killed"] = outcome.server_leaders_killed;
  all["hand_over_seen"] = outcome.saw_hand_over;
  all["sources"] = json::array(outcome.sources.begin(), outcome.sources.end());
  all["terms"] = std::move(terms);
  return end(std::move(all), outcome, outcome.success());
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
  print_counts(out, outcome);
  if (const auto gaps = outcome.gaps_after_kills(); !gaps.empty()) {
    std::snprintf(line, sizeof line, "gap after a kill: %.0f ms (median), %.0f ms (longest)\n", gaps[gaps.size() / 2],
                  gaps.back());
    out << line;
  }
  out << "killed: the leading consumer " << outcome.kills() << " times by us, consumers " << outcome.killed_by_messages
      << " times by messages, the leader of the ensemble " << outcome.server_leaders_killed << " times\n"
      << verdict(outcome.success());
  return out.str();
}

std::string to_json(const shard_summary& outcome) {
  const auto& moves = outcome.moves;
  auto all = begin(outcome);
  all["overlapping"] = outcome.counts.overlapping_terms + outcome.counts.overlapping_phases;
  all["source"] = outcome.source;
  all["shards"] = outcome.shards;
  all["owned"] = outcome.owned;
  all["moves"] = moves.moves;
  all["bound"] = moves.bound;
  all["terms_ended"] =
      json::object{{"killed", moves.died},   {"stopped_or_drained", moves.left}, {"paused_or_cut_off", moves.lost},
                   {"unseen", moves.unseen}, {"rebalanced", moves.rebalanced},   {"unexplained", moves.unexplained}};
  all["joins"] = outcome.joins;
  all["kills"] = outcome.kills;
  all["planner_kills"] = outcome.planner_kills;
  all["pauses"] = outcome.pauses;
  all["restarts"] = outcome.restarts;
  all["drains"] = outcome.drains;
  all["cuts"] = outcome.cuts;
  all["broker_nodes"] = outcome.broker_nodes;
  all["broker_kills"] = outcome.broker_kills;
  if (outcome.planned_incidents) {
    all["outages"] = outcome.outages;
    all["crash_loops"] = outcome.crash_loops;
    all["restores"] = outcome.restores;
    all["slowest_recovery"] = outcome.slowest_recovery;
  }
  all["server_leaders_killed"] = outcome.server_leaders_killed;
  return end(std::move(all), outcome, outcome.success());
}

std::string to_text(const shard_summary& outcome) {
  const auto& moves = outcome.moves;
  std::ostringstream out;
  print_counts(out, outcome);
  out << "source: " << outcome.source;
  if (outcome.broker_nodes > 1) out << ", a broker of " << outcome.broker_nodes << " nodes";
  out << '\n'
      << outcome.owned << " of " << outcome.shards << " shards owned at the end; " << moves.moves << " moves, at most "
      << moves.bound << ": of processes that were killed " << moves.died << ", stopped or drained " << moves.left
      << ", paused or cut off " << moves.lost << "; not seen " << moves.unseen << ", rebalanced " << moves.rebalanced
      << " (" << outcome.joins << " joins), unexplained " << moves.unexplained << '\n'
      << "faults: " << outcome.kills << " kills (" << outcome.planner_kills << " of the planner), " << outcome.pauses
      << " pauses, " << outcome.restarts << " restarts, " << outcome.drains << " drains, " << outcome.cuts << " cuts, "
      << outcome.broker_kills << " kills of the broker, " << outcome.server_leaders_killed
      << " kills of the ensemble's leader\n";
  if (outcome.planned_incidents) {
    out << "incidents: " << outcome.outages << " outages of the database, " << outcome.crash_loops << " crash loops, "
        << outcome.restores << " restored backups; work went on at the latest " << outcome.slowest_recovery
        << " s after the end of one\n";
  }
  out << verdict(outcome.success());
  return out.str();
}

std::string to_json(const balance_summary& outcome) {
  return json::serialize(json::object{{"servers", outcome.servers},
                                      {"processes", outcome.processes},
                                      {"messages", outcome.messages},
                                      {"processed", outcome.processed},
                                      {"lost", outcome.lost},
                                      {"duplicated", outcome.duplicated},
                                      {"range", outcome.range},
                                      {"max_spread", outcome.spread.max_spread},
                                      {"steps", outcome.spread.steps},
                                      {"stretches", outcome.spread.stretches},
                                      {"kills", outcome.kills},
                                      {"pauses", outcome.pauses},
                                      {"server_leaders_killed", outcome.server_leaders_killed},
                                      {"failed_processes", outcome.failed_processes},
                                      {"seconds", outcome.seconds},
                                      {"success", outcome.success()}});
}

std::string to_text(const balance_summary& outcome) {
  std::ostringstream out;
  out << '\n'
      << outcome.messages << " messages, " << outcome.processed << " processed in " << static_cast<int>(outcome.seconds)
      << " s: " << outcome.lost << " lost, " << outcome.duplicated << " duplicated\n"
      << "max_spread " << outcome.spread.max_spread << ", range " << outcome.range << ": " << outcome.spread.steps
      << " steps of " << outcome.processes << " processes in " << outcome.spread.stretches << " stretches\n"
      << "faults: " << outcome.kills << " kills, " << outcome.pauses << " pauses, " << outcome.server_leaders_killed
      << " kills of the ensemble's leader; " << outcome.failed_processes << " processes failed\n"
      << verdict(outcome.success());
  return out.str();
}

}  // namespace demo
