#include "cluster/collector.hpp"
#include "cluster/resignation.hpp"
#include "commands/bounded.hpp"
#include "commands/commands.hpp"
#include "settings/values.hpp"
#include "text.hpp"

#include <boost/asio/co_spawn.hpp>

#include <memory>
#include <optional>
#include <ostream>

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// Waits for a task that ends with a value or a `failure`; at the deadline it says what it waited for.
template <class Result>
Result wait_for(asio::io_context& io, deadline limit, const zkrecipes::session& session,
                asio::awaitable<Result> task) {
  struct state {
    std::exception_ptr error;
    std::optional<Result> result;
  };
  const auto shared = std::make_shared<state>();
  asio::co_spawn(io, std::move(task), [shared](std::exception_ptr error, Result result) {
    shared->error = error;
    shared->result = std::move(result);
  });
  if (!run_until(io, limit, [&shared] { return shared->result.has_value(); })) {
    if (session.status().incarnation == 0)
      throw failure(exit_code::unreachable, "none of the servers answers");
    throw failure(exit_code::error, "the servers do not answer in time; see zkadmin status");
  }
  if (shared->error) std::rethrow_exception(shared->error);
  return std::move(*shared->result);
}

asio::awaitable<bool> send_all(zkrecipes::session session, zkrecipes::transaction requests) {
  co_await send(std::move(session), std::move(requests));
  co_return true;
}

exit_code ask(surroundings& around, deadline limit, const zkrecipes::session& session,
              const std::string& path, bool read_write) {
  const auto wanted = wait_for(around.io, limit, session, prepare_resignation(session, path));
  (read_write ? around.err : around.out) << to_text(wanted.requests) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  wait_for(around.io, limit, session, send_all(session, wanted.requests));
  around.out << "asked " << printable(wanted.leader) << " to give up " << path << std::endl;
  return exit_code::ok;
}

}  // namespace

exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path,
                              bool read_write) {
  std::string checked;
  try {
    checked = parse_path(path);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, std::string("PATH: ") + error.what());
  }
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  auto session = make_session(around.io.get_executor(), wanted);
  try {
    const exit_code code = ask(around, limit, session, checked, read_write);
    close_session(around.io, std::move(session), limit);
    return code;
  } catch (const failure&) {
    close_session(around.io, std::move(session), limit);
    throw;
  }
}

}  // namespace zkadmin
