#include "commands/intervene.hpp"

#include <memory>
#include <optional>
#include <ostream>

#include "commands/audit.hpp"
#include "commands/confirmation.hpp"
#include "commands/contact.hpp"
#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// The result of a task. The command and the task share it, because the task may go on after the command has stopped
/// waiting.
struct request : contact {
  using contact::contact;
  std::string path{};
  preparation prepare{};
  std::optional<std::string> yes{};
  std::optional<intervention> prepared{};
  std::string told{};  ///< Where the sequel stands.
};

asio::awaitable<void> prepare_request(std::shared_ptr<request> asked) {
  asked->prepared = co_await asked->prepare(*asked->session, asked->path);
}

asio::awaitable<void> make_ready(std::shared_ptr<request> asked) {
  co_await make_contact(asked);
  co_await prepare_request(asked);
}

asio::awaitable<void> carry_out(std::shared_ptr<request> asked) { co_await send(*asked->session, *asked->prepared); }

asio::awaitable<void> go_on(std::shared_ptr<request> asked, following follow) {
  co_await follow(*asked->session, asked->path, asked->told);
}

/// Throws `failure` if the end does not come in time.
void follow_to_end(surroundings& around, const std::shared_ptr<request>& asked, const sequel& then) {
  const deadline until = std::chrono::steady_clock::now() + then.limit;
  try {
    run_task(around.io, until, *asked, go_on(asked, then.follow));
  } catch (const failure& error) {
    const bool is_late = std::chrono::steady_clock::now() >= until && !asked->told.empty();
    if (is_late) throw failure(exit_code::error, printable(asked->told) + " after " + short_duration(then.limit));
    throw failure(error.code(), printable(error.what()));
  }
  around.out << printable(asked->told) << std::endl;
}

/// The user may have taken long to type, and has confirmed what was shown.
void require_confirmation(surroundings& around, const std::shared_ptr<request>& asked) {
  const auto path = asked->prepared->to_confirm;
  if (path.empty() || !require_path(around, path, asked->yes, "do this")) return;
  const auto shown = *asked->prepared;
  run_task(around.io, std::chrono::steady_clock::now() + asked->wanted.timeout, *asked, prepare_request(asked));
  const auto& present = *asked->prepared;
  if (present.same != shown.same || present.requests.operations() != shown.requests.operations())
    throw failure(exit_code::error, printable(path) + " has changed meanwhile: nothing was sent, look at it again");
}

exit_code ask(surroundings& around, const std::shared_ptr<request>& asked, bool read_write) {
  const auto requests = to_text(asked->prepared->requests);
  const auto& because = asked->prepared->because;
  const auto reason = because.empty() ? because : "# " + printable(because) + "\n";
  (read_write ? around.err : around.out) << reason << requests << audit_plan(asked->wanted) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  require_confirmation(around, asked);
  const auto done = audited(around, asked, requests, [&] {
    // The log may have taken long. A task that is begun after its limit would be sent, and be told as failed.
    const deadline until = std::chrono::steady_clock::now() + asked->wanted.timeout;
    run_change(around.io, until, *asked, carry_out(asked));
    return asked->prepared->done;
  });
  around.out << printable(done) << std::endl;
  return exit_code::ok;
}

}  // namespace

exit_code intervene(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                    preparation prepare, sequel then, const std::optional<std::string>& yes) {
  const auto checked = parse_path_argument(path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<request>(wanted);
  asked->path = checked;
  asked->prepare = std::move(prepare);
  asked->yes = yes;
  try {
    run_task(around.io, limit, *asked, make_ready(asked));
    const exit_code code = asked->prepared->requests.empty() ? exit_code::ok : ask(around, asked, read_write);
    if (then.follow && code == exit_code::ok) follow_to_end(around, asked, then);
    end_contact(around.io, *asked, limit);
    return code;
  } catch (const failure&) {
    end_contact(around.io, *asked, limit);
    throw;
  }
}

}  // namespace zkadmin
