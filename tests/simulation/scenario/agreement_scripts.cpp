// The operations of the barriers and of the two-phase commit, to be tried under every single fault.
#include <utility>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

barrier gate(actor& a) { return barrier(a.zk(), "/gate"); }
two_phase_commit commits(actor& a) { return two_phase_commit(a.zk(), "/commit"); }

/// Prepares something that the operation to be tried needs; repeated until it succeeds or is cancelled.
template <class... Results, class Begin, class Then>
void first(actor& a, Begin begin, Then then) {
  a.all().start<Results...>(a.signal(), begin, [&a, begin, then](error_code error, Results...) {
    if (error == asio::error::operation_aborted) return a.done(error);
    const bool done = !error || error == errc::node_exists;
    done ? then() : first<Results...>(a, begin, then);
  });
}

template <class Then>
void when_raised(actor& a, Then then) {
  first<std::int64_t>(
      a, [&a](auto t) { gate(a).async_raise(std::move(t)); }, then);
}

template <class Then>
void when_begun(actor& a, Then then) {
  first<>(
      a, [&a](auto t) { commits(a).async_begin("one", {"a"}, "data", std::move(t)); }, then);
}

std::vector<script> barrier_scripts() {
  return {
      {"raise",
       false,
       [](actor& a) { a.run<std::int64_t>([&](auto t) { gate(a).async_raise(std::move(t)); }); },
       {errc::outcome_unknown},
       true},
      {"lift",
       false,
       [](actor& a) { when_raised(a, [&a] { a.run<>([&](auto t) { gate(a).async_lift(std::move(t)); }); }); },
       {},
       true},
      {"wait at a barrier",
       false,
       [](actor& a) {
         a.meanwhile([&a] { a.aside<>([&](auto t) { gate(a).async_lift(std::move(t)); }); });
         when_raised(a, [&a] { a.run<>([&](auto t) { gate(a).async_wait(std::move(t)); }); });
       },
       {},
       true},
      {"enter a double barrier",
       false,
       [](actor& a) {
         a.run<attendance>([&](auto t) { double_barrier(a.zk(), "/meeting", 1).async_enter(std::move(t)); });
       },
       {},
       true},
      {"enter a double barrier in vain",
       false,
       [](actor& a) {
         a.run<attendance>([&](auto t) { double_barrier(a.zk(), "/meeting", 2).async_enter_for(300ms, std::move(t)); });
       },
       {errc::timed_out},
       true},
      {"leave a double barrier",
       false,
       [](actor& a) {
         a.all().start<attendance>(
             a.signal(), [&a](auto t) { double_barrier(a.zk(), "/meeting", 1).async_enter(std::move(t)); },
             [&a](error_code error, attendance inside) {
               if (error) return a.done(error);
               auto kept = std::make_shared<attendance>(std::move(inside));
               a.all().start<>(
                   a.signal(), [kept](auto t) { kept->async_leave(std::move(t)); },
                   [&a, kept](error_code how) { a.done(how); });
             });
       },
       {},
       true},
  };
}

std::vector<script> commit_scripts() {
  return {
      {"begin",
       false,
       [](actor& a) { a.run<>([&](auto t) { commits(a).async_begin("one", {"a"}, "data", std::move(t)); }); },
       {errc::outcome_unknown},
       true},
      {"vote",
       false,
       [](actor& a) {
         when_begun(a, [&a] {
           a.run<commit_outcome>([&](auto t) { commits(a).async_vote("one", "a", ballot::no, "why", std::move(t)); });
         });
       },
       {},
       true},
      {"decide",
       false,
       [](actor& a) {
         when_begun(
             a, [&a] { a.run<commit_outcome>([&](auto t) { commits(a).async_decide("one", 300ms, std::move(t)); }); });
       },
       {},
       true},
      {"learn the outcome",
       false,
       [](actor& a) {
         a.meanwhile(
             [&a] { a.aside<commit_outcome>([&](auto t) { commits(a).async_decide("one", 0s, std::move(t)); }); });
         when_begun(a, [&a] { a.run<commit_outcome>([&](auto t) { commits(a).async_outcome("one", std::move(t)); }); });
       },
       {},
       true},
      {"clean up",
       false,
       [](actor& a) {
         when_begun(a, [&a] { a.run<std::size_t>([&](auto t) { commits(a).async_clean_up(0ms, std::move(t)); }); });
       },
       {},
       true},
      {"look at a transaction",
       false,
       [](actor& a) {
         when_begun(a, [&a] { a.run<commit_state>([&](auto t) { commits(a).async_state("one", std::move(t)); }); });
       },
       {},
       true},
      {"list the undecided",
       false,
       [](actor& a) { a.run<std::vector<std::string>>([&](auto t) { commits(a).async_undecided(std::move(t)); }); },
       {},
       true},
      {"coordinate",
       false,
       [](actor& a) {
         when_begun(a, [&a] {
           a.meanwhile([&a] { a.signal().emit(asio::cancellation_type::total); });
           a.run<>([&](auto t) { commits(a).async_coordinate({.vote_timeout = 100ms}, std::move(t)); });
         });
       },
       {asio::error::operation_aborted},
       true},
  };
}

}  // namespace

std::vector<script> agreement_scripts() {
  auto both = barrier_scripts();
  for (auto& each : commit_scripts()) both.push_back(std::move(each));
  return both;
}

}  // namespace zkrecipes::simulation
