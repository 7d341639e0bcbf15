#include "commands/intervene.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <ostream>

#include <boost/asio/co_spawn.hpp>

#include "commands/bounded.hpp"
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
  std::exception_ptr error;
  bool is_done = false;
};

asio::awaitable<void> make_ready(std::shared_ptr<request> asked, std::string path, preparation prepare) {
  co_await make_contact(asked);
  asked->prepared = co_await prepare(*asked->session, std::move(path));
}

asio::awaitable<void> carry_out(std::shared_ptr<request> asked) { co_await send(*asked->session, *asked->prepared); }

/// Waits until a task ends, and throws what it throws. At the deadline throws `failure`, which says how far the contact
/// came.
void wait_for(asio::io_context& io, deadline limit, std::shared_ptr<request> asked, asio::awaitable<void> task) {
  asked->is_done = false;
  asio::co_spawn(io, std::move(task), [asked](std::exception_ptr error) {
    asked->error = error;
    asked->is_done = true;
  });
  if (!run_until(io, limit, [&asked] { return asked->is_done; })) throw out_of_time(*asked);
  if (asked->error) std::rethrow_exception(asked->error);
}

exit_code ask(surroundings& around, deadline limit, const std::shared_ptr<request>& asked, bool read_write,
              asio::awaitable<void> preparing) {
  wait_for(around.io, limit, asked, std::move(preparing));
  (read_write ? around.err : around.out) << to_text(asked->prepared->requests) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  wait_for(around.io, limit, asked, carry_out(asked));
  around.out << printable(asked->prepared->done) << std::endl;
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
