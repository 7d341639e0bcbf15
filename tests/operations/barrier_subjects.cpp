// Barriers and two-phase commits.
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

subject of_barrier() {
  return subject_of<barrier>("barrier")
      .made([](const session& zk) { return barrier(zk, "/barrier"); })
      .has("barrier::async_raise()", [](auto& b, auto t) { b.async_raise(std::move(t)); })
      .has("barrier::async_lift()", [](auto& b, auto t) { b.async_lift(std::move(t)); })
      .has("barrier::async_wait()", [](auto& b, auto t) { b.async_wait(std::move(t)); })
      .has(
          "barrier::async_wait_for(budget)", [](auto& b, auto t) { b.async_wait_for(budget, std::move(t)); },
          timed_out);
}

subject of_double_barrier() {
  return subject_of<double_barrier>("double_barrier")
      .made([](const session& zk) { return double_barrier(zk, "/rounds", 1); })
      .has("double_barrier::async_enter()", [](auto& b, auto t) { b.async_enter(std::move(t)); })
      .has("double_barrier::async_enter(why)", [](auto& b, auto t) { b.async_enter(diagnostic(), std::move(t)); })
      .has(
          "double_barrier::async_enter_for(budget, why)",
          [](auto& b, auto t) { b.async_enter_for(budget, diagnostic(), std::move(t)); }, timed_out)
      .has(
          "double_barrier::async_enter_for(budget)", [](auto& b, auto t) { b.async_enter_for(budget, std::move(t)); },
          timed_out);
}

subject of_attendance() {
  return subject_of<attendance>("attendance")
      .had([](const session& zk, auto got) { double_barrier(zk, "/rounds", 1).async_enter(std::move(got)); })
      .has("attendance::async_lost()", [](auto& a, auto t) { a.async_lost(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has("attendance::async_leave()", [](auto& a, auto t) { a.async_leave(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has("attendance::async_leave_for(budget)", [](auto& a, auto t) { a.async_leave_for(budget, std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed, errc::timed_out});
}

subject of_two_phase_commit() {
  const std::set<error_code> missing{errc::no_node};
  const std::set<error_code> missing_or_late{errc::no_node, errc::timed_out};
  return subject_of<two_phase_commit>("two_phase_commit")
      .made([](const session& zk) { return two_phase_commit(zk, "/commits"); })
      .has("two_phase_commit::async_begin(id, participants, data)",
           [](auto& c, auto t) { c.async_begin("1", {"a"}, "", std::move(t)); })
      .has(
          "two_phase_commit::async_vote(id, participant, vote, reason)",
          [](auto& c, auto t) { c.async_vote("1", "a", ballot::yes, "", std::move(t)); }, missing)
      .has(
          "two_phase_commit::async_outcome(id)", [](auto& c, auto t) { c.async_outcome("1", std::move(t)); }, missing)
      .has(
          "two_phase_commit::async_outcome_for(id, budget)",
          [](auto& c, auto t) { c.async_outcome_for("1", budget, std::move(t)); }, missing_or_late)
      .has(
          "two_phase_commit::async_decide(id, budget)",
          [](auto& c, auto t) { c.async_decide("1", budget, std::move(t)); }, missing)
      .has(
          "two_phase_commit::async_state(id)", [](auto& c, auto t) { c.async_state("1", std::move(t)); }, missing)
      .has("two_phase_commit::async_undecided()", [](auto& c, auto t) { c.async_undecided(std::move(t)); })
      .has("two_phase_commit::async_clean_up(age)", [](auto& c, auto t) { c.async_clean_up(1s, std::move(t)); })
      .has("two_phase_commit::async_coordinate(options)",
           [](auto& c, auto t) { c.async_coordinate(commit_coordinator_options(), std::move(t)); });
}

}  // namespace

std::vector<subject> barrier_subjects() {
  return {of_barrier(), of_double_barrier(), of_attendance(), of_two_phase_commit()};
}

}  // namespace zkrecipes::test
