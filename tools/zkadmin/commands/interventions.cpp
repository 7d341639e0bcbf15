#include "change/commit_decision.hpp"
#include "change/group_change.hpp"
#include "change/node_change.hpp"
#include "change/resignation.hpp"
#include "change/revocation.hpp"
#include "change/waiting_line.hpp"
#include "commands/commands.hpp"
#include "commands/follow.hpp"
#include "commands/intervene.hpp"
#include "settings/values.hpp"

namespace zkadmin {

exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                              const resignation_options& how) {
  require_consistent(how);
  if (how.wait) return follow_resignation(around, wanted, path, read_write, how);
  return intervene(around, wanted, path, read_write, prepare_resignation);
}

// `zkadmin revoke`.

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

// `zkadmin evict`.

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

// `zkadmin service`.

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

// `zkadmin commit decide`.

exit_code decide_transaction(surroundings& around, const settings& wanted, const std::string& path,
                             const std::string& transaction, bool read_write) {
  const auto limit = wanted.limits.transaction_limit;
  return intervene(around, wanted, path, read_write,
                   [transaction, limit](zkrecipes::session session, std::string commit) {
                     return prepare_decision(std::move(session), std::move(commit), transaction, limit);
                   });
}

// `zkadmin group drain`, `undrain`, `transfer` and `unpin`.

namespace {

constexpr std::chrono::milliseconds default_wait = std::chrono::minutes(1);

sequel sequel_of(const wait_options& how, following follow) {
  if (how.limit && !how.wait) throw failure(exit_code::usage, "--for needs --wait");
  if (!how.wait) return {};
  return {std::move(follow), how.limit.value_or(default_wait)};
}

}  // namespace

exit_code drain_member(surroundings& around, const settings& wanted, const std::string& path,
                       const group_request& asked, bool read_write) {
  const auto id = asked.member;
  const bool is_followed = asked.how.wait;
  const auto then = sequel_of(asked.how, [id](zkrecipes::session session, std::string group, std::string& told) {
    return follow_drain(std::move(session), std::move(group), id, told);
  });
  const preparation prepare = [id, is_followed](zkrecipes::session session, std::string group) {
    return prepare_drain(std::move(session), std::move(group), id, is_followed);
  };
  return intervene(around, wanted, path, read_write, prepare, then);
}

exit_code undrain_member(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write) {
  return intervene(around, wanted, path, read_write,
                   [id = asked.member](zkrecipes::session session, std::string group) {
                     return prepare_undrain(std::move(session), std::move(group), id);
                   });
}

exit_code transfer_shard(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write) {
  const auto id = asked.member;
  const auto shard = asked.shard;
  const bool is_followed = asked.how.wait;
  const auto then = sequel_of(asked.how, [id, shard](zkrecipes::session session, std::string group, std::string& told) {
    return follow_transfer(std::move(session), std::move(group), shard, id, told);
  });
  const preparation prepare = [id, shard, is_followed](zkrecipes::session session, std::string group) {
    return prepare_transfer(std::move(session), std::move(group), shard, id, is_followed);
  };
  return intervene(around, wanted, path, read_write, prepare, then);
}

exit_code unpin_shard(surroundings& around, const settings& wanted, const std::string& path, const group_request& asked,
                      bool read_write) {
  return intervene(around, wanted, path, read_write,
                   [shard = asked.shard](zkrecipes::session session, std::string group) {
                     return prepare_unpin(std::move(session), std::move(group), shard);
                   });
}

}  // namespace zkadmin
