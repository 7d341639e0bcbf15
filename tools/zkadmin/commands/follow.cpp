#include "commands/follow.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/election.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/resignation.hpp"
#include "change/waiting_line.hpp"
#include "cluster/nodes.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/intervene.hpp"
#include "report/follow_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct attempt {
  place_end which;
  std::optional<intervention> removal{};
  bool is_sent = false;
};
using attempt_ptr = std::shared_ptr<attempt>;

asio::awaitable<void> prepare_removal(attempt_ptr what) { what->removal = co_await what->which.prepare(); }

asio::awaitable<void> carry_removal_out(attempt_ptr what) { co_await send(*what->which.with->session, *what->removal); }

void run_step(surroundings& around, const attempt_ptr& what, asio::awaitable<void> step) {
  const auto& with = *what->which.with;
  run_task(around.io, steady_clock::now() + with.wanted.timeout, with, std::move(step));
}

/// Returns what the user is to be told.
std::string try_to_end(surroundings& around, const attempt_ptr& what) {
  what->is_sent = false;
  run_step(around, what, prepare_removal(what));
  if (!what->removal) return what->which.owner + " has left its place already: nothing was deleted";
  const auto requests = to_text(what->removal->requests);
  around.err << requests << std::flush;
  return audited(around, what->which.with, requests, [&] {
    what->is_sent = true;
    run_step(around, what, carry_removal_out(what));
    return what->removal->done;
  });
}

bool is_changed(const attempt& what, const failure& error) {
  return what.is_sent && error.what() == what.removal->if_changed;
}

/// Whether the servers may have executed a deletion of which no answer says that they have not.
bool may_be_deleted(const attempt& what, const failure& error) {
  return what.is_sent && error.code() != exit_code::auth && error.what() != what.removal->if_gone;
}

}  // namespace

void end_place(surroundings& around, const place_end& which) {
  constexpr int most_tries = 3;  // somebody may write to the node meanwhile
  const auto what = std::make_shared<attempt>(attempt{which});
  for (int tries = 1; tries <= most_tries; ++tries) {
    try {
      const auto told = try_to_end(around, what);
      around.err << "zkadmin: " << printable(told) << std::endl;
      return;
    } catch (const failure& error) {
      around.err << "zkadmin: note: " << error.what() << std::endl;
      if (is_changed(*what, error)) continue;
      if (may_be_deleted(*what, error))
        around.err << "zkadmin: note: the node of " << printable(which.owner) << " may have been deleted\n";
      return;
    }
  }
}

namespace {

using std::chrono::milliseconds;

/// Notes why a task has ended that follows something.
template <class Followed>
auto keep_trouble_of(std::shared_ptr<Followed> what) {
  return [what](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const failure& why) {
      what->trouble = why;
    }
  };
}

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct followed : contact {
  using contact::contact;
  std::string path;
  std::optional<resignation> found;
  std::optional<resignation> found_again;  ///< After the user was asked.
  std::optional<hand_over_progress> progress;
  steady_clock::time_point asked_at{};
  std::function<void(const hand_over_step&)> print;
  std::optional<failure> trouble;  ///< Why it is not followed any longer.

  milliseconds since_request() const {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - asked_at);
  }
};
using followed_ptr = std::shared_ptr<followed>;

asio::awaitable<void> find(followed_ptr what) {
  co_await make_contact(what);
  what->found = co_await find_resignation(*what->session, what->path);
}

asio::awaitable<void> find_again(followed_ptr what) {
  const auto present = co_await what->session->async_sync(as_result);
  check(std::get<0>(present), "catching up");
  what->found_again = co_await find_resignation(*what->session, what->path);
}

asio::awaitable<void> ask_leader(followed_ptr what) { co_await send(*what->session, what->found->request); }

/// Each write wakes us, but what is written before we have read again is not seen.
asio::awaitable<void> follow(followed_ptr what) {
  zkrecipes::election contest(*what->session, what->path, {.id = "zkadmin"});
  zkrecipes::election_view seen;
  while (!what->progress->is_done()) {
    auto changed = co_await contest.async_view_change(seen, as_result);
    check(std::get<0>(changed), "following " + what->path);
    seen = std::move(std::get<1>(changed));
    const auto steps = what->progress->update(seen, what->since_request());
    for (const auto& each : steps) what->print(each);
  }
}

void begin_to_follow(surroundings& around, const followed_ptr& what) {
  asio::co_spawn(around.io, follow(what), keep_trouble_of(what));
}

/// Until a successor executes, or the deadline.
void wait_until(surroundings& around, const followed_ptr& what, deadline limit) {
  run_until(around.io, limit, [&what] { return what->trouble || what->progress->is_done(); });
  if (what->trouble) throw failure(*what->trouble);
}

std::string request_text(const resignation& found) {
  if (!found.asked_before) return to_text(found.request.requests);
  return "nothing: " + printable(label(found.leader)) + " was asked " + short_duration(*found.asked_before) +
         " ago already\n";
}

std::string eviction_text(const followed& what, const resignation_options& how) {
  if (!how.force) return {};
  return "after " + short_duration(*how.grace) + ", if it is still there: delete " +
         printable(join(what.path, what.found->leader.node)) + "\n";
}

/// A place that is ended can not be given back, so the user has to name whose it is.
void confirm(surroundings& around, const std::string& leader, const resignation_options& how) {
  std::string typed = how.confirmed;
  if (typed.empty()) {
    if (!::isatty(STDIN_FILENO)) throw failure(exit_code::usage, "--force needs --yes " + printable(leader));
    around.err << "type the id of the leader, " << printable(leader) << ", to go on: " << std::flush;
    std::getline(std::cin, typed);
  }
  if (typed != leader)
    throw failure(exit_code::error,
                  "the leader is " + printable(leader) + ", not " + printable(typed) + ": nothing was sent");
}

/// The user has confirmed one leader, and may have taken long for it.
void require_same_leader(surroundings& around, const followed_ptr& what) {
  run_task(around.io, steady_clock::now() + what->wanted.timeout, *what, find_again(what));
  const auto& present = what->found_again->leader;
  if (present.token == what->found->leader.token) return;
  throw failure(exit_code::error,
                "the leader has changed, and is " + printable(label(present)) + " now: nothing was sent");
}

/// The grace is over.
void force(surroundings& around, const followed_ptr& what) {
  end_place(around,
            {what, "the leader", [what] { return prepare_eviction(*what->session, what->path, what->found->leader); }});
}

std::string where_it_stands(const followed& what) {
  const auto& last = what.progress->last();
  return std::string(to_string(last.state)) + " for " + short_duration(what.since_request() - last.at) + " (" +
         printable(last.from) + (last.to.empty() ? ", nobody waits" : " -> " + printable(last.to)) + ")";
}

void print_end(surroundings& around, const followed& what, const resignation_options& how, const std::string& problem) {
  if (how.as_lines) {
    around.out << to_ndjson(*what.progress, problem) << std::flush;
    return;
  }
  around.out << to_text(*what.progress, "") << std::flush;
  if (problem.empty()) around.out << "\n" << result_line(*what.progress, what.path) << std::endl;
}

void send_request(surroundings& around, const followed_ptr& what) {
  const auto& found = *what->found;
  what->progress.emplace(label(found.leader), found.leader.token, found.epoch);
  what->asked_at = steady_clock::now() - found.asked_before.value_or(milliseconds(0));
  if (found.asked_before) return;
  audited(around, what, to_text(found.request.requests), [&] {
    run_change(around.io, steady_clock::now() + what->wanted.timeout, *what, ask_leader(what));
    return found.request.done;
  });
}

exit_code watch_it(surroundings& around, const followed_ptr& what, const resignation_options& how) {
  what->print = [&around, lines = how.as_lines](const hand_over_step& step) {
    around.out << (lines ? to_ndjson(step) : to_line(step)) << std::flush;
  };
  what->print(what->progress->last());
  const auto limit = how.limit.value_or(default_resignation_limit);
  const deadline end = steady_clock::now() + limit;
  begin_to_follow(around, what);
  if (how.force) {
    wait_until(around, what, steady_clock::now() + *how.grace);
    if (!what->progress->is_done()) force(around, what);
  }
  wait_until(around, what, end);
  what->print = [](const hand_over_step&) {};  // nothing behind the end
  const bool is_done = what->progress->is_done();
  const auto problem =
      is_done ? "" : "no successor executes after " + short_duration(limit) + ": " + where_it_stands(*what);
  print_end(around, *what, how, problem);
  if (!is_done) throw failure(exit_code::error, printable(what->path) + ": " + problem);
  return exit_code::ok;
}

exit_code ask_and_follow(surroundings& around, const followed_ptr& what, bool read_write,
                         const resignation_options& how) {
  run_task(around.io, steady_clock::now() + what->wanted.timeout, *what, find(what));
  (read_write ? around.err : around.out) << request_text(*what->found) << eviction_text(*what, how)
                                         << audit_plan(what->wanted) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  if (how.force) confirm(around, label(what->found->leader), how);
  if (how.force && how.confirmed.empty()) require_same_leader(around, what);
  send_request(around, what);
  return watch_it(around, what, how);
}

}  // namespace

exit_code follow_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                             const resignation_options& how) {
  const auto what = std::make_shared<followed>(wanted);
  what->path = parse_path_argument(path);
  return run_in_contact(around.io, *what, deadline::min(),
                        [&] { return ask_and_follow(around, what, read_write, how); });
}

namespace {

using zkrecipes::errc;

constexpr milliseconds pause_without_connection{200};

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct followed_holders : contact {
  using contact::contact;
  std::string path;
  recipe_query query;
  line_request how;
  std::optional<revocation> found;
  revocation_progress progress;
  steady_clock::time_point asked_at{};
  std::function<void(const holder_progress&)> print;
  std::optional<failure> trouble;  ///< Why they are not followed any longer.

  deadline soon() const { return steady_clock::now() + wanted.timeout; }
};
using holders_ptr = std::shared_ptr<followed_holders>;

revocation_choice choice_of(const line_request& how) { return {how.of, how.grace, how.in_curators_form, how.force}; }

asio::awaitable<void> find_holders(holders_ptr what) {
  what->found = co_await find_revocation(*what->session, what->path, what->query, choice_of(what->how), what->soon());
}

asio::awaitable<void> find_first(holders_ptr what) {
  co_await make_contact(what);
  co_await find_holders(what);
}

asio::awaitable<void> find_again(holders_ptr what) {
  const auto present = co_await what->session->async_sync(as_result);
  check(std::get<0>(present), "catching up");
  co_await find_holders(what);
}

asio::awaitable<void> ask_holders(holders_ptr what) { co_await send(*what->session, what->found->request); }

asio::awaitable<void> pause_a_moment() {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, pause_without_connection);
  co_await timer.async_wait(as_result);
}

/// Completes when the node of this holder has gone.
asio::awaitable<void> follow_holder(holders_ptr what, std::size_t which) {
  const auto place = what->found->holders[which].place;
  auto seen = place.stat.mzxid;
  for (;;) {
    auto changed = co_await what->session->async_data_change(place.path, seen, as_result);
    const auto error = std::get<0>(changed);
    const auto& stat = std::get<1>(changed).stat;
    if (error == errc::no_node || (!error && stat.czxid != place.stat.czxid)) break;
    if (error == errc::connection_loss || error == errc::session_expired) {
      co_await pause_a_moment();
      continue;
    }
    check(error, "following " + place.path);
    seen = stat.mzxid;
  }
  what->progress.record_gone(which, std::chrono::duration_cast<milliseconds>(steady_clock::now() - what->asked_at));
  what->print(what->progress.holders[which]);
}

void begin_to_follow(surroundings& around, const holders_ptr& what) {
  for (std::size_t i = 0; i < what->found->holders.size(); ++i)
    asio::co_spawn(around.io, follow_holder(what, i), keep_trouble_of(what));
}

/// Until all have gone, or the deadline.
void wait_until_gone(surroundings& around, const holders_ptr& what, deadline limit) {
  run_until(around.io, limit, [&what] { return what->trouble || what->progress.is_done(); });
  if (what->trouble) throw failure(*what->trouble);
}

/// The requests that are sent at once, and those after the grace.
std::string plan_of(const followed_holders& what) {
  std::string text = to_text(what.found->request.requests), later;
  for (const auto& each : what.found->holders) {
    const auto who = printable(label(each.place));
    if (!each.obstacle.empty()) text += "nothing: " + who + " can not be asked: " + each.obstacle + "\n";
    if (each.was_asked) text += "nothing: " + who + " was asked already\n";
    if (what.how.force)
      later += "after " + short_duration(*what.how.grace) + ", if it is still there: delete " +
               printable(each.place.path) + "\n";
  }
  return text + later;
}

/// Also the requests: the user has confirmed those that were shown.
bool is_same(const revocation& a, const revocation& b) {
  if (a.holders.size() != b.holders.size()) return false;
  if (a.request.requests.operations() != b.request.requests.operations()) return false;
  for (std::size_t i = 0; i < a.holders.size(); ++i)
    if (a.holders[i].place.stat.czxid != b.holders[i].place.stat.czxid) return false;
  return true;
}

/// A place that is ended can not be given back, so the user has to type the path; and may take long for it.
void confirm(surroundings& around, const holders_ptr& what) {
  if (!what->how.force) return;
  if (!require_path(around, what->path, what->how.yes, "do this")) return;
  const auto shown = *what->found;
  run_task(around.io, what->soon(), *what, find_again(what));
  if (!is_same(shown, *what->found))
    throw failure(exit_code::error, "the holders of " + printable(what->path) + " have changed: nothing was sent");
}

void send_requests(surroundings& around, const holders_ptr& what) {
  what->progress = progress_of(*what->found);
  what->asked_at = steady_clock::now();
  const auto& request = what->found->request;
  if (request.requests.empty()) return;
  audited(around, what, to_text(request.requests), [&] {
    run_change(around.io, what->soon(), *what, ask_holders(what));
    return request.done;
  });
}

asio::awaitable<std::optional<intervention>> prepare_end_of(holders_ptr what, line_place place) {
  const seen_node node{place.path, place.stat.czxid};
  auto removal = co_await prepare_removal(*what->session, node, label(place));
  if (removal) removal->done = "ended the place of " + label(place) + " at " + what->path;
  co_return removal;
}

/// The grace is over.
void end_places(surroundings& around, const holders_ptr& what) {
  for (std::size_t i = 0; i < what->found->holders.size(); ++i) {
    if (what->progress.holders[i].gone_after) continue;
    const auto place = what->found->holders[i].place;
    const auto prepare = [what, place] { return prepare_end_of(what, place); };
    end_place(around, {what, label(place), prepare});
  }
}

/// The holders by now; nothing is known of it if it can not be read.
asio::awaitable<void> read_present(holders_ptr what) {
  auto query = what->query;
  query.kind = what->found->kind;
  const auto line = co_await read_waiting_line(*what->session, what->path, query, what->soon());
  for (const auto& each : line.places)
    if (each.role == place_role::holder) what->progress.present.push_back(label(each));
  what->progress.is_present_known = true;
}

void print_result(surroundings& around, const holders_ptr& what) {
  try {
    run_task(around.io, what->soon(), *what, read_present(what));
  } catch (const failure& error) {
    around.err << "zkadmin: note: " << error.what() << '\n';
  }
  around.out << (what->how.as_lines ? to_ndjson(what->progress, "") : "\n" + result_line(what->progress)) << std::flush;
}

exit_code watch_them(surroundings& around, const holders_ptr& what) {
  const bool as_lines = what->how.as_lines;
  what->print = [&around, as_lines](const holder_progress& step) {
    around.out << (as_lines ? to_ndjson(step) : to_line(step)) << std::flush;
  };
  for (const auto& each : what->progress.holders) what->print(each);
  const auto limit = what->how.limit.value_or(default_revocation_limit);
  const deadline end = steady_clock::now() + limit;
  begin_to_follow(around, what);
  if (what->how.force) {
    wait_until_gone(around, what, steady_clock::now() + *what->how.grace);
    if (!what->progress.is_done()) end_places(around, what);
  }
  wait_until_gone(around, what, end);
  what->print = [](const holder_progress&) {};  // nothing behind the end
  if (what->progress.is_done()) {
    print_result(around, what);
    return exit_code::ok;
  }
  const auto problem = remainder_text(what->progress) + " after " + short_duration(limit);
  if (as_lines) around.out << to_ndjson(what->progress, problem) << std::flush;
  throw failure(exit_code::error, problem);
}

exit_code ask_and_follow(surroundings& around, const holders_ptr& what, bool read_write) {
  run_task(around.io, what->soon(), *what, find_first(what));
  (read_write ? around.err : around.out) << plan_of(*what) << audit_plan(what->wanted) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  confirm(around, what);
  send_requests(around, what);
  return watch_them(around, what);
}

}  // namespace

exit_code follow_revocation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                            const line_request& how) {
  const auto what = std::make_shared<followed_holders>(wanted);
  what->path = parse_path_argument(path);
  what->query = query_of_line(wanted, how);
  what->how = how;
  return run_in_contact(around.io, *what, deadline::min(), [&] { return ask_and_follow(around, what, read_write); });
}

}  // namespace zkadmin
