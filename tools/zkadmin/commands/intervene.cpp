#include "commands/intervene.hpp"

#include <memory>
#include <optional>
#include <ostream>

#include "commands/audit.hpp"
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
  std::optional<intervention> prepared;
};

asio::awaitable<void> make_ready(std::shared_ptr<request> asked, std::string path, preparation prepare) {
  co_await make_contact(asked);
  asked->prepared = co_await prepare(*asked->session, std::move(path));
}

asio::awaitable<void> carry_out(std::shared_ptr<request> asked) { co_await send(*asked->session, *asked->prepared); }

exit_code ask(surroundings& around, deadline limit, const std::shared_ptr<request>& asked, bool read_write,
              asio::awaitable<void> preparing) {
  run_task(around.io, limit, *asked, std::move(preparing));
  const auto requests = to_text(asked->prepared->requests);
  (read_write ? around.err : around.out) << requests << audit_plan(asked->wanted) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  const auto done = audited(around, asked, requests, [&] {
    // The log may have taken long. A task that is begun after its limit would be sent, and be told as failed.
    const deadline until = std::chrono::steady_clock::now() + asked->wanted.timeout;
    run_task(around.io, until, *asked, carry_out(asked));
    return asked->prepared->done;
  });
  around.out << printable(done) << std::endl;
  return exit_code::ok;
}

}  // namespace

exit_code intervene(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                    preparation prepare) {
  const auto checked = parse_path_argument(path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<request>(wanted);
  try {
    const exit_code code = ask(around, limit, asked, read_write, make_ready(asked, checked, std::move(prepare)));
    end_contact(around.io, *asked, limit);
    return code;
  } catch (const failure&) {
    end_contact(around.io, *asked, limit);
    throw;
  }
}

}  // namespace zkadmin
