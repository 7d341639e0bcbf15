#include "scenario/scripts.hpp"

#include <memory>
#include <utility>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/multi_lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/two_phase_commit.hpp>

namespace zkrecipes::simulation {

namespace {

using results = std::vector<operation_result>;

std::string below(const char* name) { return std::string(script_node) + '/' + name; }

void write_again(actor& a) {
  a.meanwhile([&a] {
    a.aside<node_stat>([&](auto token) { a.zk().async_set(script_node, "again", any_version, std::move(token)); });
  });
}

void add_child(actor& a) {
  a.meanwhile([&a] {
    a.aside<created_node>([&](auto token) {
      a.zk().async_create(below("child-"), "", create_mode::ephemeral_sequential, std::move(token));
    });
  });
}

void ask_for_it(actor& a) {
  a.meanwhile([&a] { a.aside<>([&](auto token) { a.line().async_request_resignation(std::move(token)); }); });
}

/// Writes the record of no term: the data stays the same, but its version grows.
void write_record(actor& a) {
  a.meanwhile([&a] {
    a.aside<node_stat>([&](auto token) { a.zk().async_set(script_line, "", any_version, std::move(token)); });
  });
}

/// Tries a wait for a change: the first wait returns the present state at once, the second one waits for the change.
template <class Result, class Wait, class Seen>
void wait_twice(actor& a, Wait wait, Seen seen) {
  a.all().start<Result>(
      a.signal(), [wait](auto token) { wait({}, std::move(token)); },
      [&a, wait, seen](error_code error, Result first) {
        if (error) return a.done(error);
        a.run<Result>([&](auto token) { wait(seen(first), std::move(token)); });
      });
}

std::vector<script> session_scripts() {
  return {
      {"connected", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_connected(std::move(t)); }); }, {}, true},
      {"create",
       false,
       [](actor& a) {
         a.run<created_node>(
             [&](auto t) { a.zk().async_create(below("node-"), "", create_mode::ephemeral_sequential, std::move(t)); });
       },
       {}},
      {"ensure_path",
       false,
       [](actor& a) { a.run<>([&](auto t) { a.zk().async_ensure_path(below("some/where"), std::move(t)); }); },
       {},
       true},
      {"remove",
       false,
       [](actor& a) { a.run<>([&](auto t) { a.zk().async_remove(below("none"), any_version, std::move(t)); }); },
       {errc::no_node}},
      {"get",
       false,
       [](actor& a) { a.run<node_data>([&](auto t) { a.zk().async_get(script_node, std::move(t)); }); },
       {},
       true},
      {"set",
       false,
       [](actor& a) {
         a.run<node_stat>([&](auto t) { a.zk().async_set(script_node, "x", any_version, std::move(t)); });
       },
       {}},
      {"exists",
       false,
       [](actor& a) { a.run<node_stat>([&](auto t) { a.zk().async_exists(script_node, std::move(t)); }); },
       {},
       true},
      {"children",
       false,
       [](actor& a) { a.run<node_children>([&](auto t) { a.zk().async_children(script_node, std::move(t)); }); },
       {},
       true},
      {"commit",
       false,
       [](actor& a) {
         a.run<results>([&](auto t) { a.zk().async_commit(transaction().set(script_node, "y"), std::move(t)); });
       },
       {}},
      {"sync", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_sync(std::move(t)); }); }, {}, true},
      {"get_acl",
       false,
       [](actor& a) { a.run<acl>([&](auto t) { a.zk().async_get_acl(script_node, std::move(t)); }); },
       {},
       true},
      {"set_acl",
       false,
       [](actor& a) {
         a.run<>([&](auto t) { a.zk().async_set_acl(script_node, open_acl(), any_version, std::move(t)); });
       },
       {}},
      {"changed",
       false,
       [](actor& a) {
         write_again(a);
         wait_twice<node_data>(
             a, [&a](node_data seen, auto t) { a.zk().async_data_change(script_node, seen.stat.mzxid, std::move(t)); },
             [](const node_data& first) { return first; });
       },
       {},
       true},
      {"children_changed",
       false,
       [](actor& a) {
         add_child(a);
         wait_twice<node_children>(
             a,
             [&a](node_children seen, auto t) {
               a.zk().async_children_change(script_node, seen.stat.pzxid, std::move(t));
             },
             [](const node_children& first) { return first; });
       },
       {},
       true},
      {"close", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_close(std::move(t)); }); }, {}, true, false},
  };
}

std::vector<script> line_scripts() {
  return {
      {"campaign",
       false,
       [](actor& a) {
         a.all().start<ownership>(
             a.signal(), [&](auto t) { a.line().async_campaign(std::move(t)); },
             [&a](error_code error, ownership won) {
               if (!error) a.granted(std::move(won));
               a.done(error);
             });
       },
       {},
       true},
      {"release", true, [](actor& a) { a.run<>([&](auto t) { a.held().async_release(std::move(t)); }); }, {}, true},
      {"let go", true, [](actor& a) { a.held() = ownership(), a.done({}); }, {}, true},
      {"lost",
       true,
       [](actor& a) {
         a.meanwhile([&a] { a.remove_own_node(); });
         a.run<>([&](auto t) { a.held().async_lost(std::move(t)); });
       },
       {errc::node_removed},
       true},
      {"revoked",
       true,
       [](actor& a) {
         ask_for_it(a);
         a.run<>([&](auto t) { a.held().async_revoked(std::move(t)); });
       },
       {errc::revoked},
       true},
      {"fenced commit",
       true,
       [](actor& a) {
         a.run<results>(
             [&](auto t) { a.zk().async_commit(a.held().fenced(transaction().set(script_node, "z")), std::move(t)); });
       },
       {}},
      {"view",
       true,
       [](actor& a) { a.run<election_view>([&](auto t) { a.line().async_view(std::move(t)); }); },
       {},
       true},
      {"view change",
       true,
       [](actor& a) {
         write_record(a);
         wait_twice<election_view>(
             a, [&a](const election_view& seen, auto t) { a.line().async_view_change(seen, std::move(t)); },
             [](const election_view& first) { return first; });
       },
       {},
       true},
      {"resignation request",
       true,
       [](actor& a) { a.run<transaction>([&](auto t) { a.line().async_resignation_request(std::move(t)); }); },
       {errc::no_node},
       true},
      {"request resignation",
       true,
       [](actor& a) { a.run<>([&](auto t) { a.line().async_request_resignation(std::move(t)); }); },
       {errc::no_node, errc::bad_version}},
  };
}

}  // namespace

const std::vector<script>& scripts() {
  static const std::vector<script> all = [] {
    auto all_of_them = session_scripts();
    for (const auto part : {&line_scripts, &recipe_scripts, &agreement_scripts, &group_scripts, &queue_scripts}) {
      for (auto& each : part()) all_of_them.push_back(std::move(each));
    }
    return all_of_them;
  }();
  return all;
}

// The operations of locks and semaphores, to be tried under every single fault.
namespace {

/// An operation that does not have to wait.
template <class... Results, class Begin>
script free(const char* name, Begin begin) {
  return {
      name, false, [begin](actor& a) { a.run<Results...>([&](auto token) { begin(a, std::move(token)); }); }, {}, true};
}

/// `take` acquires something that `then` needs. Both are called with the actor and a completion token.
template <class Held, class... Results, class Take, class Then>
script after(const char* name, Take take, Then then, std::vector<error_code> ends = {}, bool is_retried = true) {
  auto run = [take, then](actor& a) {
    a.all().start<Held>(
        a.signal(), [&](auto token) { take(a, std::move(token)); },
        [&a, then](error_code error, Held held) {
          if (error) return a.done(error);
          auto kept = std::make_shared<Held>(std::move(held));
          a.run<Results...>([&](auto token) { then(a, *kept, std::move(token)); }, kept);
        });
  };
  return {name, false, run, std::move(ends), is_retried};
}

/// Runs `take` twice: the second one waits behind the first, which is released after a while.
template <class Take>
script behind(const char* name, Take take) {
  auto run = [take](actor& a) {
    a.all().start<ownership>(
        a.signal(), [&](auto token) { take(a, std::move(token)); },
        [&a, take](error_code error, ownership first) {
          if (error) return a.done(error);
          a.meanwhile([held = std::make_shared<ownership>(std::move(first))] { *held = ownership(); });
          a.run<ownership>([&](auto token) { take(a, std::move(token)); });
        });
  };
  return {name, false, run, {}, true};
}

lock one_lock(actor& a) { return lock(a.zk(), "/lock", {.id = "actor"}); }
read_write_lock guard(actor& a) { return read_write_lock(a.zk(), "/guard", {.id = "actor"}); }
semaphore permits(actor& a) { return semaphore(a.zk(), "/permits", 3, {.id = "actor"}); }
constexpr auto budget = std::chrono::seconds(20);
constexpr auto little = std::chrono::milliseconds(300);  // too little, because another owner holds it

multi_lock both(actor& a) { return multi_lock(a.zk(), {"/one", "/other"}, {.id = "actor"}); }

std::vector<script> lock_scripts() {
  auto acquire = [](actor& a, auto token) { one_lock(a).async_acquire(std::move(token)); };
  auto all = [](actor& a, auto token) { both(a).async_acquire(std::move(token)); };
  auto the_other = [](actor& a, auto token) {
    lock(a.zk(), "/other", {.id = "actor"}).async_acquire(std::move(token));
  };
  return {
      free<ownership>("lock", acquire),
      behind("lock behind another", acquire),
      free<ownership>("try lock", [](actor& a, auto token) { one_lock(a).async_try_acquire(std::move(token)); }),
      free<std::vector<line_member>>("lock members",
                                     [](actor& a, auto token) { one_lock(a).async_members(std::move(token)); }),
      after<ownership>(
          "revoke lock", acquire,
          [](actor& a, ownership&, auto token) {
            one_lock(a).async_request_revocation(std::chrono::seconds(1), std::move(token));
          },
          {errc::bad_version, errc::no_node}, false),
      free<multi_ownership>("multi-lock", all),
      free<ownership>("lock within a budget",
                      [](actor& a, auto token) { one_lock(a).async_acquire_for(budget, std::move(token)); }),
      after<ownership, ownership>(
          "lock in too little time", acquire,
          [](actor& a, ownership&, auto token) { one_lock(a).async_acquire_for(little, std::move(token)); },
          {errc::timed_out}),
      after<ownership, ownership>(
          "try lock that is held", acquire,
          [](actor& a, ownership&, auto token) { one_lock(a).async_try_acquire(std::move(token)); }, {errc::busy}),
      free<multi_ownership>("try multi-lock",
                            [](actor& a, auto token) { both(a).async_try_acquire(std::move(token)); }),
      after<ownership, multi_ownership>(
          "try multi-lock of which one is held", the_other,
          [](actor& a, ownership&, auto token) { both(a).async_try_acquire(std::move(token)); }, {errc::busy}),
      after<ownership, multi_ownership>(
          "multi-lock in too little time", the_other,
          [](actor& a, ownership&, auto token) { both(a).async_acquire_for(little, std::move(token)); },
          {errc::timed_out}),
      after<multi_ownership>("release multi-lock", all,
                             [](actor&, multi_ownership& held, auto token) { held.async_release(std::move(token)); }),
  };
}

std::vector<script> shared_lock_scripts() {
  auto read = [](actor& a, auto token) { guard(a).async_acquire_read(std::move(token)); };
  auto write = [](actor& a, auto token) { guard(a).async_acquire_write(std::move(token)); };
  return {
      free<ownership>("read lock", read),
      behind("write lock behind another", write),
      free<ownership>("read lock within a budget",
                      [](actor& a, auto token) { guard(a).async_acquire_read_for(budget, std::move(token)); }),
      free<ownership>("write lock within a budget",
                      [](actor& a, auto token) { guard(a).async_acquire_write_for(budget, std::move(token)); }),
      after<ownership, ownership>(
          "read lock in too little time", write,
          [](actor& a, ownership&, auto token) { guard(a).async_acquire_read_for(little, std::move(token)); },
          {errc::timed_out}),
      after<ownership, ownership>(
          "write lock in too little time", read,
          [](actor& a, ownership&, auto token) { guard(a).async_acquire_write_for(little, std::move(token)); },
          {errc::timed_out}),
      after<ownership>("downgrade", write,
                       [](actor& a, ownership& held, auto token) { guard(a).async_downgrade(held, std::move(token)); },
                       {errc::no_node}),
      after<ownership, ownership>(
          "upgrade", read,
          [](actor& a, ownership& held, auto token) { guard(a).async_try_upgrade(held, std::move(token)); },
          {errc::no_node, errc::busy}),
  };
}

std::vector<script> semaphore_scripts() {
  auto three = [](actor& a, auto token) { permits(a).async_acquire(3, std::move(token)); };
  return {
      free<ownership>("permits", three),
      behind("permits behind others", three),
      free<ownership>("try permits", [](actor& a, auto token) { permits(a).async_try_acquire(2, std::move(token)); }),
      free<ownership>("permits within a budget",
                      [](actor& a, auto token) { permits(a).async_acquire_for(2, budget, std::move(token)); }),
      after<ownership, ownership>(
          "permits in too little time", three,
          [](actor& a, ownership&, auto token) { permits(a).async_acquire_for(1, little, std::move(token)); },
          {errc::timed_out}),
      free<>("resize", [](actor& a, auto token) { permits(a).async_resize(5, std::move(token)); }),
      free<semaphore_state>("semaphore state", [](actor& a, auto token) { permits(a).async_state(std::move(token)); }),
  };
}

}  // namespace

std::vector<script> recipe_scripts() {
  std::vector<script> all;
  for (auto some : {&lock_scripts, &shared_lock_scripts, &semaphore_scripts}) {
    for (auto& each : some()) all.push_back(std::move(each));
  }
  return all;
}

// The operations of the barriers and of the two-phase commit, to be tried under every single fault.
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
