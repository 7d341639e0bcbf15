#include <functional>
#include <type_traits>
#include <utility>

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
namespace {

constexpr std::chrono::milliseconds default_wait = std::chrono::minutes(1);

/// A preparation that takes more than the path.
template <class... Told>
preparation with(boost::asio::awaitable<intervention> (*prepare)(zkrecipes::session, std::string, Told...),
                 std::type_identity_t<Told>... told) {
  return [=](zkrecipes::session session, std::string path) {
    return prepare(std::move(session), std::move(path), told...);
  };
}

sequel sequel_of(const wait_options& how, following follow) {
  if (how.limit && !how.wait) throw failure(exit_code::usage, "--for needs --wait");
  if (!how.wait) return {};
  return {std::move(follow), how.limit.value_or(default_wait)};
}

following until_drained(const std::string& member) {
  return [member](zkrecipes::session session, std::string group, std::string& told) {
    return follow_drain(std::move(session), std::move(group), member, told);
  };
}

following until_transferred(std::uint32_t shard, const std::string& member) {
  return [shard, member](zkrecipes::session session, std::string group, std::string& told) {
    return follow_transfer(std::move(session), std::move(group), shard, member, told);
  };
}

preparation prepare_revocation_of(const settings& wanted, const line_request& how) {
  const revocation_choice choice{how.of, how.grace, how.in_curators_form};
  return [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](zkrecipes::session session,
                                                                                std::string at) {
    return prepare_revocation(std::move(session), std::move(at), query, choice,
                              std::chrono::steady_clock::now() + timeout);
  };
}

preparation prepare_eviction_of(const settings& wanted, const line_request& how) {
  const eviction_choice choice{how.node, how.id, how.force};
  return [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](zkrecipes::session session,
                                                                                std::string at) {
    return prepare_eviction(std::move(session), std::move(at), query, choice,
                            std::chrono::steady_clock::now() + timeout);
  };
}

}  // namespace

recipe_query query_of_line(const settings& wanted, const line_request& how) {
  recipe_query query{std::nullopt, wanted.recipes};
  if (!how.kind.empty()) query.kind = parse_kind_argument(how.kind);
  return query;
}

exit_code change_recipe(surroundings& around, const settings& wanted, const invocation& asked) {
  const auto& path = asked.path;
  const bool read_write = asked.read_write;
  const auto& [member, shard, how] = asked.group;
  const auto& line = asked.line;
  const auto send = [&](preparation prepare, sequel then = {}) {
    return intervene(around, wanted, path, read_write, std::move(prepare), std::move(then));
  };
  switch (asked.command) {
    case command::resign:
      require_consistent(asked.resignation);
      if (asked.resignation.wait) return follow_resignation(around, wanted, path, read_write, asked.resignation);
      return send(prepare_resignation);
    case command::freeze: return send(prepare_freeze);
    case command::thaw: return send(prepare_thaw);
    case command::release:
      return send(asked.all_shards ? preparation(prepare_release_of_all) : with(prepare_release, asked.shard));
    case command::drain: {
      auto then = sequel_of(how, until_drained(member));
      return send(with(prepare_drain, member, how.wait), std::move(then));
    }
    case command::undrain: return send(with(prepare_undrain, member));
    case command::transfer: {
      auto then = sequel_of(how, until_transferred(shard, member));
      return send(with(prepare_transfer, shard, member, how.wait), std::move(then));
    }
    case command::unpin: return send(with(prepare_unpin, shard));
    case command::decide: return send(with(prepare_decision, asked.transaction, wanted.limits.transaction_limit));
    case command::revoke:
      require_revocation(line);
      if (line.wait) return follow_revocation(around, wanted, path, read_write, line);
      return send(prepare_revocation_of(wanted, line));
    case command::evict:
      require_eviction(line);
      return intervene(around, wanted, path, read_write, prepare_eviction_of(wanted, line), {}, line.yes);
    case command::drain_instance: return send(with(prepare_instance_drain, line.instance));
    case command::undrain_instance: return send(with(prepare_instance_undrain, line.instance));
    default: return exit_code::usage;
  }
}

}  // namespace zkadmin
