#include "commands/commands.hpp"
#include "hold/hold.hpp"

namespace zkadmin {

int run_leading(surroundings& around, const settings& wanted, const std::string& path, hold_options how) {
  how.kind = hold_kind::leadership;
  return hold(around, wanted, path, std::move(how));
}

}  // namespace zkadmin
