#include "commands/follow_resignation.hpp"

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/hand_over_progress.hpp"
#include "cluster/node_path.hpp"
#include "cluster/resignation.hpp"
#include "commands/audit.hpp"
#include "commands/bounded.hpp"
#include "commands/contact.hpp"
#include "commands/end_place.hpp"
#include "report/hand_over_report.hpp"
#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

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
  const auto on_end = [what](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const failure& why) {
      what->trouble = why;
    }
  };
  asio::co_spawn(around.io, follow(what), on_end);
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
  try {
    const auto code = ask_and_follow(around, what, read_write, how);
    end_contact(around.io, *what, steady_clock::now());
    return code;
  } catch (const failure&) {
    end_contact(around.io, *what, steady_clock::now());
    throw;
  }
}

}  // namespace zkadmin
