#include "commands/confirmation.hpp"

#include <iostream>

#include <unistd.h>

#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {

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
