// The operations of locks and semaphores, to be tried under every single fault.
#include <memory>
#include <utility>

#include <zkrecipes/multi_lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
