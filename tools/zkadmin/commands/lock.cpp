#include "commands/commands.hpp"
#include "hold/hold.hpp"

namespace zkadmin {

int run_locked(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how) {
  return hold(around, wanted, path, how);
}

}  // namespace zkadmin
