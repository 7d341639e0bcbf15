#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "cluster/election_reader.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "report/history_report.hpp"
#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

struct history_request : contact {
  using contact::contact;
  std::optional<election_status> election;
};

asio::awaitable<void> read_history_of(std::shared_ptr<history_request> asked, std::string path) {
  co_await make_contact(asked);
  asked->election = co_await view_election(*asked->session, std::move(path));
}

/// Throws `failure` if there is no record to tell anything.
void require_election(const std::optional<election_status>& seen, const std::string& path) {
  if (!seen) throw failure(exit_code::error, "there is no election at " + printable(path));
  if (seen->phase == refused_phase) check(zkrecipes::errc::no_auth, "reading " + path);
  if (seen->phase == foreign_phase)
    throw failure(exit_code::error, printable(path) + " holds data that is not an election's");
}

}  // namespace

exit_code show_history(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const auto checked = parse_path_argument(path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<history_request>(wanted);
  try {
    run_task(around.io, limit, *asked, read_history_of(asked, checked));
    end_contact(around.io, *asked, limit);
  } catch (const failure&) {
    end_contact(around.io, *asked, limit);
    throw;
  }
  require_election(asked->election, checked);
  around.out << formatted_history(*asked->election, format, std::chrono::system_clock::now()) << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
  return exit_code::ok;
}

}  // namespace zkadmin
