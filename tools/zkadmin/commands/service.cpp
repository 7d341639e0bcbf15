// `zkadmin service`.
#include "cluster/instance_change.hpp"
#include "commands/intervene.hpp"
#include "commands/line_commands.hpp"

namespace zkadmin {

exit_code drain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                         const std::string& instance) {
  return intervene(around, wanted, path, read_write, [instance](zkrecipes::session session, std::string service) {
    return prepare_instance_drain(std::move(session), std::move(service), instance);
  });
}

exit_code undrain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                           const std::string& instance) {
  return intervene(around, wanted, path, read_write, [instance](zkrecipes::session session, std::string service) {
    return prepare_instance_undrain(std::move(session), std::move(service), instance);
  });
}

}  // namespace zkadmin
