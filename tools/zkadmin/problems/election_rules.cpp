#include "problems/election_rules.hpp"

#include <string>
#include <utility>
#include <vector>

#include "problems/line_places.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

/// Adds problems of one election.
struct election_findings {
  const election_status& election;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, election.path, std::move(text)});
  }
};

void judge_record(election_findings& about) {
  const auto& election = about.election;
  if (is_abandoned(election))
    about.add("nobody-in-line", severity::critical, "in office by its record, but nobody is in line");
  if (election.phase == "stalled")
    about.add("stalled", severity::critical, "given up by its watchdog: it made no progress");
  if (is_orphaned(election)) about.add("leader-died", severity::critical, "its leader has died, and nobody is in line");
  if (election.phase == foreign_phase)
    about.add("foreign-data", severity::warning, "its node holds data that zkrecipes did not write");
  if (election.phase == refused_phase)
    about.add("no-access", severity::warning, "it may not be read with these credentials");
}

void judge_hand_over(election_findings& about, const problem_limits& limits) {
  const auto& going = about.election.hand_over;
  if (!going || !is_late(*going, limits)) return;
  about.add("late-hand-over", severity::critical,
            "its hand-over from " + going->from + " is past its deadline by " +
                short_duration(going->elapsed - going->deadline));
}

// A leader that hands over has heeded the request.
void judge_resignation(election_findings& about, const problem_limits& limits) {
  const auto& election = about.election;
  const auto& asked = election.resignation_asked;
  if (!asked || !election.leader || election.hand_over || *asked < limits.resignation_limit) return;
  about.add("resignation-not-heeded", severity::warning,
            label(*election.leader) + " was asked to give up " + short_duration(*asked) + " ago, and has not begun to");
}

void judge_work(election_findings& about) {
  const auto& election = about.election;
  if (!election.held_off.empty())
    about.add("consumer-held-off", severity::critical,
              "all attempts at its messages fail, so it tries one at a time: " + election.held_off);
  if (election.is_still)
    about.add("stands-still", severity::warning,
              "a message has been in process for longer than 45 s" +
                  (election.still_message.empty() ? std::string() : ": " + election.still_message));
}

void judge_takeover(election_findings& about, const problem_limits& limits) {
  const auto& election = about.election;
  if (!election.leaderless_for || *election.leaderless_for < limits.takeover_limit || election.waiters.empty()) return;
  about.add("no-leader", severity::critical,
            label(election.waiters.front()) + " is first in line, and has not begun its term for " +
                short_duration(*election.leaderless_for));
}

// Our candidates, Curator's and kazoo's are ephemeral. A node of no session has been copied, restored or made by hand.
void judge_candidates(election_findings& about) {
  const auto& first = about.election.leader;
  const auto& waiters = about.election.waiters;
  std::vector<const candidate_status*> orphans;
  if (first && first->session_id == 0) orphans.push_back(&*first);
  for (const auto& each : waiters)
    if (each.session_id == 0) orphans.push_back(&each);
  if (orphans.empty()) return;
  std::string ids;
  for (const auto* each : orphans) append_to_list(ids, label(*each));
  // It takes the turn of all behind it, and never gives it up.
  const bool is_first = orphans.front() == (first ? &*first : &waiters.front());
  about.add("orphan-candidate", is_first ? severity::critical : severity::warning,
            "in line without a session: " + shortened(ids, 200) +
                (orphans.size() == 1 ? "; its node stays until somebody deletes it"
                                     : "; their nodes stay until somebody deletes them"));
}

}  // namespace

bool is_late(const hand_over_status& hand_over, const problem_limits& limits) noexcept {
  return hand_over.elapsed - hand_over.deadline > limits.hand_over_limit;
}

problem_list problems_of(const election_status& election, const problem_limits& limits) {
  election_findings about{election};
  judge_record(about);
  judge_hand_over(about, limits);
  judge_resignation(about, limits);
  judge_work(about);
  judge_takeover(about, limits);
  judge_candidates(about);
  line_places places;
  if (election.leader) places.add(election.leader->id, election.leader->session_id);
  for (const auto& each : election.waiters) places.add(each.id, each.session_id);
  places.judge(election.path, true, about.found);
  return std::move(about.found);
}

}  // namespace zkadmin
