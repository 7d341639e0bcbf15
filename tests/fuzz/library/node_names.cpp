// The names of nodes in a line, and strangers among them; the first line has the number of the marker.
#include <array>

#include "fuzz/target.hpp"
#include "line/line_spec.hpp"

namespace fuzz::node_names_target {

using namespace zkrecipes::detail;

constexpr std::array<std::string_view, 3> of_election{"latch-", "lock-", "__lock__"};
constexpr std::array<std::string_view, 4> of_both{"__READ__", "__rlock__", "__WRIT__", "__lock__"};
constexpr std::array<std::string_view, 1> of_members{"member-"};

void read_line(const std::vector<std::string>& names, std::span<const std::string_view> markers) {
  const auto members = members_of(names, markers);
  require(members.size() <= names.size(), "no member without a node");
  for (std::size_t i = 1; i < members.size(); ++i)
    require(is_exhausted(members[i].sequence) || is_exhausted(members[0].sequence) ||
                members[i - 1].sequence <= members[i].sequence,
            "members stand in the order of their numbers");
  for (const auto& each : members)
    require(parse_sequence(each.name, markers) == each.sequence, "a member has the number of its name");
  require(strangers_among(names, markers).size() + members.size() <= names.size(), "a member is no stranger");
}

void read_names(std::string_view input) {
  const auto names = lines_of(input);
  read_line(names, of_election);
  read_line(names, of_both);
  read_line(names, of_members);
}

const target known("node_names", read_names);

}  // namespace fuzz::node_names_target
