// Members of lines: the data and the names of their nodes.
#include <array>

#include "election/term_record.hpp"
#include "fuzz/target.hpp"
#include "line/line_spec.hpp"

namespace fuzz::library_members_targets {

using namespace zkrecipes::detail;
using namespace std::chrono_literals;

// The data of a member of a line: any text, or a record with requests.

void read_data(std::string_view input) {
  const std::string data(input);
  require(grace_of(data) >= 0ms, "a grace is not negative");
  if (is_revocable(data)) {
    const auto asked = with_revocation(data, 1500ms);
    require(asks_revocation(asked), "a request can be read");
    require(grace_of(asked) <= 1500ms, "the shorter grace stays");
    const bool has_id = read_member(data)->text("id").has_value();  // else the whole data stands for it
    require(!has_id || member_id(asked) == member_id(data), "a request keeps the id");
    require(is_shared(with_shared(asked)), "the mark of a member that lets others pass can be read");
  }
  require(member_id(id_data(data)) == data || data.empty(), "an id is read as it was written");
  require(member_id(revocable_data(data)) == data, "an id is read from a record as it was written");
  require(!asks_revocation(id_data(data)), "an id is no request");
  require(is_of_ours(candidate_data(data, true)) && is_awaiting(candidate_data(data, true)), "a candidate is ours");
  require(!keeps_record(campaigner_data(data)), "a campaigner keeps no record");
  is_of_ours(data), keeps_record(data), is_awaiting(data);
}

// The names of nodes in a line, and strangers among them; the first line has the number of the marker.

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

const target known[] = {{"member_data", read_data}, {"node_names", read_names}};

}  // namespace fuzz::library_members_targets
