// `zkadmin revoke`.
#include "cluster/revocation.hpp"
#include "commands/follow_revocation.hpp"
#include "commands/intervene.hpp"
#include "commands/line_commands.hpp"
#include "settings/values.hpp"

namespace zkadmin {

recipe_query query_of_line(const settings& wanted, const line_request& how) {
  recipe_query query{std::nullopt, wanted.recipes};
  if (!how.kind.empty()) query.kind = parse_kind_argument(how.kind);
  return query;
}

exit_code revoke_place(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how) {
  require_revocation(how);
  if (how.wait) return follow_revocation(around, wanted, path, read_write, how);
  const revocation_choice choice{how.of, how.grace, how.in_curators_form};
  const auto prepare = [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](
                           zkrecipes::session session, std::string at) {
    return prepare_revocation(std::move(session), std::move(at), query, choice,
                              std::chrono::steady_clock::now() + timeout);
  };
  return intervene(around, wanted, path, read_write, prepare);
}

}  // namespace zkadmin
