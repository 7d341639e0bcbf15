// `zkadmin commit decide`.
#include "cluster/commit_decision.hpp"
#include "commands/commands.hpp"
#include "commands/intervene.hpp"

namespace zkadmin {

exit_code decide_transaction(surroundings& around, const settings& wanted, const std::string& path,
                             const std::string& transaction, bool read_write) {
  const auto limit = wanted.limits.transaction_limit;
  return intervene(around, wanted, path, read_write,
                   [transaction, limit](zkrecipes::session session, std::string commit) {
                     return prepare_decision(std::move(session), std::move(commit), transaction, limit);
                   });
}

}  // namespace zkadmin
