#include "cluster/resignation.hpp"
#include "commands/commands.hpp"
#include "commands/follow_resignation.hpp"
#include "commands/intervene.hpp"

namespace zkadmin {

exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                              const resignation_options& how) {
  require_consistent(how);
  if (how.wait) return follow_resignation(around, wanted, path, read_write, how);
  return intervene(around, wanted, path, read_write, prepare_resignation);
}

}  // namespace zkadmin
