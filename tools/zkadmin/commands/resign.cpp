#include "cluster/resignation.hpp"
#include "commands/commands.hpp"
#include "commands/intervene.hpp"

namespace zkadmin {

exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write) {
  return intervene(around, wanted, path, read_write, prepare_resignation);
}

}  // namespace zkadmin
