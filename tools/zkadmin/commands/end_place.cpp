#include "commands/end_place.hpp"

#include <chrono>
#include <ostream>

#include "commands/audit.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
