// `zkadmin group drain`, `undrain`, `transfer` and `unpin`.
#include "cluster/group_wish.hpp"
#include "commands/group_commands.hpp"
#include "commands/intervene.hpp"

namespace zkadmin {
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
