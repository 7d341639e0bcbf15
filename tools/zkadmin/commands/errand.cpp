#include "commands/errand.hpp"

#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <unistd.h>

#include "base/text.hpp"
#include "commands/contact.hpp"
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

bool require_path(surroundings& around, const std::string& path, const std::optional<std::string>& yes,
                  const std::string& deed) {
  if (yes && parse_path_argument(*yes) == path) return false;
  if (yes)
    throw failure(exit_code::usage,
                  "--yes names " + printable(*yes) + ", not " + printable(path) + ": nothing was sent");
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
    throw failure(exit_code::error,
                  "nothing was sent; without a terminal to ask at, confirm with --yes " + printable(path));
  around.err << "Type the path to " << deed << ": " << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  if (typed != path) throw failure(exit_code::error, "that is not the path: nothing was sent");
  return true;
}

}  // namespace zkadmin
