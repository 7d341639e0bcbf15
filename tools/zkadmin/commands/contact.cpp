#include "commands/contact.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "report/check_report.hpp"
#include "report/formats.hpp"
#include "settings/values.hpp"

namespace zkadmin {

namespace {

/// The command and its task share it.
struct errand_contact : contact {
  errand_contact(const settings& with, errand what, const std::string& about)
      : contact(with, about), work(std::move(what)) {}
  errand work;
};

boost::asio::awaitable<void> run(std::shared_ptr<errand_contact> with, deadline limit) {
  co_await make_contact(with);
  co_await with->work(*with->session, middle(limit));
}

}  // namespace

std::optional<failure> run_errand(surroundings& around, const settings& wanted, errand work, const std::string& about) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto with = std::make_shared<errand_contact>(wanted, std::move(work), about);
  std::optional<failure> trouble;
  try {
    run_task(around.io, limit, *with, run(with, limit));
  } catch (const failure& error) {
    trouble = error;
  }
  end_contact(around.io, *with, limit);
  return trouble;
}

void finish_output(surroundings& around) {
  around.out << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
}

check_state print_verdict(surroundings& around, const verdict& judged, output_format format) {
  around.out << in_format(
      format, [&] { return to_lines(judged); }, [&] { return to_json(judged); }, [&] { return to_tsv(judged); });
  finish_output(around);
  return state_of(judged);
}

bool require_typed(surroundings& around, const std::string& what, const std::string& wanted,
                   const std::optional<std::string>& yes, const std::string& deed) {
  if (yes && *yes == wanted) return false;
  if (yes)
    throw failure(exit_code::usage,
                  "--yes names " + printable(*yes) + ", not " + printable(wanted) + ": nothing was sent");
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
    throw failure(exit_code::error,
                  "nothing was sent; without a terminal to ask at, confirm with --yes " + printable(wanted));
  around.err << "Type the " << what << " to " << deed << ": " << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  if (typed != wanted) throw failure(exit_code::error, "that is not the " + what + ": nothing was sent");
  return true;
}

bool require_path(surroundings& around, const std::string& path, const std::optional<std::string>& yes,
                  const std::string& deed) {
  return require_typed(around, "path", path, yes ? std::optional(parse_path_argument(*yes)) : yes, deed);
}

namespace {

namespace asio = boost::asio;

bool is_any(const std::vector<server_status>& servers, bool (*condition)(const server_status&) noexcept) {
  return std::any_of(servers.begin(), servers.end(), condition);
}

bool is_reachable(const server_status& server) noexcept { return server.reachable; }

void require_service(const std::vector<server_status>& servers, const std::string& subject) {
  if (!is_any(servers, is_reachable)) throw failure(exit_code::unreachable, "none of the servers answers");
  if (!is_any(servers, may_serve))
    throw failure(exit_code::error, "no server is serving requests: the " + subject + " are not known");
}

std::vector<endpoint> those_that_may_serve(const contact& with) {
  std::vector<endpoint> chosen;
  for (std::size_t i = 0; i < with.servers.size(); ++i)
    if (may_serve(with.servers[i])) chosen.push_back(with.wanted.servers[i]);
  return chosen;
}

}  // namespace

asio::awaitable<void> ask_servers(std::shared_ptr<contact> with) {
  const auto executor = co_await asio::this_coro::executor;
  const auto& wanted = with->wanted;
  // A fifth of the timeout is left for the report about servers that do not answer.
  const auto asking = make_prober(executor, wanted, wanted.timeout * 4 / 5);
  const prober::hook keep = [with](std::size_t which, server_status seen) { with->servers[which] = std::move(seen); };
  co_await asking->ask_all(keep);
}

asio::awaitable<void> make_contact(std::shared_ptr<contact> with) {
  co_await ask_servers(with);
  co_await open_session(with);
}

asio::awaitable<void> open_session(std::shared_ptr<contact> with) {
  const auto executor = co_await asio::this_coro::executor;
  const auto& wanted = with->wanted;
  require_service(with->servers, with->subject);
  const auto servers = those_that_may_serve(*with);
  const auto share = wanted.timeout / (static_cast<int>(servers.size()) + 1);
  with->session = make_session(executor, wanted, servers, share);
  with->session_at = std::chrono::steady_clock::now();
}

void run_task(asio::io_context& io, deadline limit, const contact& with, asio::awaitable<void> task) {
  struct ending {
    bool is_there = false;
    std::exception_ptr error;
  };
  const auto ended = std::make_shared<ending>();
  asio::co_spawn(io, std::move(task), [ended](std::exception_ptr error) { *ended = {true, error}; });
  if (!run_until(io, limit, [&ended] { return ended->is_there; })) throw out_of_time(with);
  if (ended->error) std::rethrow_exception(ended->error);
}

void run_change(asio::io_context& io, deadline limit, const contact& with, asio::awaitable<void> task) {
  try {
    run_task(io, limit, with, std::move(task));
  } catch (const overdue& error) {
    throw failure(error.code(), std::string(error.what()) + "; the request may be executed all the same, look again");
  }
}

overdue out_of_time(const contact& with) {
  const bool has_begun = with.session && with.session->status().incarnation > 0;
  const std::string what = has_begun ? "the servers gave a session, but no answer to all requests within "
                           : is_any(with.servers, is_reachable) ? "the servers answer, but gave no session within "
                                                                : "no server has answered within ";
  return overdue(exit_code::error, what + short_duration(with.wanted.timeout));
}

void end_contact(asio::io_context& io, contact& with, deadline limit) {
  if (with.session) close_session(io, *with.session, limit);
}

exit_code run_in_contact(asio::io_context& io, contact& with, deadline limit, const std::function<exit_code()>& work) {
  try {
    const auto code = work();
    end_contact(io, with, limit);
    return code;
  } catch (const failure&) {
    end_contact(io, with, limit);
    throw;
  }
}

}  // namespace zkadmin
