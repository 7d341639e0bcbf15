// Asks the servers for their status first. A command then opens its session with those that may serve, and if there is
// none it can say why.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "cluster/collector.hpp"
#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"
#include "commands/commands.hpp"
#include "servers/prober.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

// Work that takes one session, within the time limit of a command; what it prints, and what the user has to confirm.

/// Has to keep alive what it works on, because it may go on after the command has stopped waiting. Throws `failure`.
/// Should send nothing after the deadline, which leaves time for answers.
using errand = std::function<boost::asio::awaitable<void>(zkrecipes::session, deadline)>;

/// Opens a session, runs the errand and closes the session. The failure, if there was one; the errand may have done a
/// part. `about`: of these nothing is known without a server that serves.
std::optional<failure> run_errand(surroundings& around, const settings& wanted, errand work,
                                  const std::string& about = "nodes");

/// Flushes the output of a command. Throws `failure` if it could not be written.
void finish_output(surroundings& around);

// How `check` ends, whatever it has looked at.

/// Prints the verdict, and returns its state. Throws `failure` if the output could not be written.
check_state print_verdict(surroundings& around, const verdict& judged, output_format format);

// Asks the user to confirm what does damage.

/// Returns if `yes`, the value of --yes, is what is wanted; without --yes if the user types it at the terminal, who is
/// asked for `what`: "session". Else throws `failure`. `deed`: what will be done, such as "end it". Returns whether it
/// was typed, which may have taken long.
bool require_typed(surroundings& around, const std::string& what, const std::string& wanted,
                   const std::optional<std::string>& yes, const std::string& deed);

/// The same for a path. `deed`: "delete 3 nodes".
bool require_path(surroundings& around, const std::string& path, const std::optional<std::string>& yes,
                  const std::string& deed);

/// The status of the servers, and the session with those that may serve once there is one. Shared with the coroutines
/// that still wait for an overdue answer.
struct contact {
  explicit contact(const settings& with, std::string about = "elections")
      : wanted(with), subject(std::move(about)), servers(not_asked(with.servers)) {}

  settings wanted;
  std::string subject;  ///< Nothing is known of it without a server that serves.
  std::vector<server_status> servers;
  std::optional<zkrecipes::session> session;
  std::chrono::steady_clock::time_point session_at{};  ///< When it was opened.
};

/// Completes when each server has answered or is overdue.
boost::asio::awaitable<void> ask_servers(std::shared_ptr<contact> with);

/// Completes when each server has answered or is overdue, and the session has been made. If no server may serve, throws
/// `failure` with the reason.
boost::asio::awaitable<void> make_contact(std::shared_ptr<contact> with);

/// The second half of that, once the servers have been asked.
boost::asio::awaitable<void> open_session(std::shared_ptr<contact> with);

/// Waits until a task of a command ends, and throws what it throws. At the deadline throws `out_of_time`; the task may
/// go on.
void run_task(boost::asio::io_context& io, deadline limit, const contact& with, boost::asio::awaitable<void> task);

/// The same for a task that sends what changes something: the failure at the deadline says that it may be executed all
/// the same.
void run_change(boost::asio::io_context& io, deadline limit, const contact& with, boost::asio::awaitable<void> task);

/// The failure that tells how far the contact came when the time was over.
overdue out_of_time(const contact& with);

/// Ends the session, if there is one, so that the servers need not wait for it to expire.
void end_contact(boost::asio::io_context& io, contact& with, deadline limit);

/// What a command does in this contact, which ends with it, whatever it throws.
exit_code run_in_contact(boost::asio::io_context& io, contact& with, deadline limit,
                         const std::function<exit_code()>& work);

// Waits with a time limit for work on a context.

/// Runs the context until `done()` is true, or until the deadline; returns the last result of `done()`.
template <class Done>
bool run_until(boost::asio::io_context& io, deadline limit, Done done) {
  // Keeps the context from running out of work while `done` depends on time.
  boost::asio::steady_timer guard(io, limit);
  guard.async_wait([](const auto&) {});
  while (!done())
    if (std::chrono::steady_clock::now() >= limit || io.run_one_until(limit) == 0) return done();
  return true;
}

/// The deadline of a step that must leave time for others: after 3/5 of the time that is left.
inline deadline middle(deadline limit) {
  const auto now = std::chrono::steady_clock::now();
  return now + (limit - now) * 3 / 5;
}

/// Closes the session, so that the servers need not wait for it to expire. Waits until the deadline, but at least 100
/// ms and at most 1 s.
inline void close_session(boost::asio::io_context& io, zkrecipes::session session, deadline limit) {
  using namespace std::chrono_literals;
  bool closed = false;
  session.async_close([&closed](const auto&) { closed = true; });
  const auto now = std::chrono::steady_clock::now();
  run_until(io, std::clamp(limit, now + 100ms, now + 1s), [&closed] { return closed; });
}

}  // namespace zkadmin
