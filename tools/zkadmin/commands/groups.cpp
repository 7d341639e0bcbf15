#include <utility>

#include "cluster/group_change.hpp"
#include "cluster/group_reader.hpp"
#include "commands/intervene.hpp"
#include "commands/listing.hpp"
#include "report/group_report.hpp"

namespace zkadmin {
namespace {

std::string formatted_groups(const known_groups& groups, output_format format, bool is_one,
                             const problem_limits& limits) {
  switch (format) {
    case output_format::table: return is_one && groups ? to_table(groups->found.at(0), limits) : to_table(groups);
    case output_format::json: return to_json(groups, limits);
    case output_format::tsv: return to_tsv(groups, limits);
  }
  return {};
}

}  // namespace

exit_code show_groups(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<group_status> groups{"shard group", recipe::shard_group, read_group};
  return show_list<group_status>(around, wanted, groups, path, [format, &path, &wanted](const known_groups& all) {
    return formatted_groups(all, format, !path.empty(), wanted.limits);
  });
}

exit_code freeze_group(surroundings& around, const settings& wanted, const std::string& path, bool frozen,
                       bool read_write) {
  return intervene(around, wanted, path, read_write, frozen ? prepare_freeze : prepare_thaw);
}

exit_code release_shards(surroundings& around, const settings& wanted, const std::string& path,
                         std::optional<std::uint32_t> which, bool read_write) {
  if (!which) return intervene(around, wanted, path, read_write, prepare_release_of_all);
  return intervene(around, wanted, path, read_write, [shard = *which](zkrecipes::session session, std::string group) {
    return prepare_release(std::move(session), std::move(group), shard);
  });
}

}  // namespace zkadmin
