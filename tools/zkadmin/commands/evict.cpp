// `zkadmin evict`.
#include "cluster/eviction.hpp"
#include "commands/intervene.hpp"
#include "commands/line_commands.hpp"

namespace zkadmin {

exit_code evict_waiter(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how) {
  require_eviction(how);
  const eviction_choice choice{how.node, how.id, how.force};
  const auto prepare = [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](
                           zkrecipes::session session, std::string at) {
    return prepare_eviction(std::move(session), std::move(at), query, choice,
                            std::chrono::steady_clock::now() + timeout);
  };
  return intervene(around, wanted, path, read_write, prepare, {}, how.yes);
}

}  // namespace zkadmin
