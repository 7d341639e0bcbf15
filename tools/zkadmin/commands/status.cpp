#include <memory>
#include <optional>
#include <ostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/text.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "report/status_report.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// The result of a task. The command and the task share it, because the task may go on after the command has stopped
/// waiting.
struct exploration : contact {
  using contact::contact;
  std::optional<election_survey> survey;
  std::optional<failure> trouble;  ///< Why there are no elections.
  bool is_done = false;
};

asio::awaitable<void> explore(std::shared_ptr<exploration> found, deadline limit) {
  try {
    co_await make_contact(found);
    collector at(*found->session, found->wanted.root);
    co_await at.search(middle(limit));
    found->survey = co_await at.elections(middle(limit));
  } catch (const failure& error) {
    found->trouble = error;
  }
  found->is_done = true;
}

/// The reason why the printed status is not complete; nothing if it is.
std::optional<failure> shortcoming(const exploration& found) {
  if (found.trouble) return found.trouble;
  if (!found.survey)
    return failure(exit_code::error, std::string(out_of_time(found).what()) + ": the elections are not known");
  if (found.survey->refused)
    return failure(exit_code::auth, "something may not be read; give credentials (digest_file or ZKADMIN_DIGEST)");
  if (!found.survey->complete) return failure(exit_code::error, "there may be more elections than these");
  return std::nullopt;
}

std::string formatted(const cluster_status& cluster, output_format format, const problem_limits& limits) {
  switch (format) {
    case output_format::table: return to_table(cluster, limits);
    case output_format::json: return to_json(cluster, limits);
    case output_format::tsv: return to_tsv(cluster, limits);
  }
  return {};
}

}  // namespace

exit_code show_status(surroundings& around, const settings& wanted, output_format format) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto found = std::make_shared<exploration>(wanted);
  asio::co_spawn(around.io, explore(found, limit), asio::detached);
  run_until(around.io, limit, [&found] { return found->is_done; });
  const auto missing = shortcoming(*found);
  const cluster_status shown{found->servers, found->survey};
  end_contact(around.io, *found, limit);

  around.out << formatted(shown, format, wanted.limits) << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
  if (shown.survey)
    for (const auto& note : shown.survey->notes) around.err << "zkadmin: note: " << printable(to_string(note)) << '\n';
  if (!missing) return exit_code::ok;
  around.err << "zkadmin: " << missing->what() << '\n';
  return missing->code();
}

}  // namespace zkadmin
