// What the data of a node and, in the lines behind it, the names of its children tell of its recipe.
#include "cluster/recognize.hpp"

#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/stored_record.hpp"
#include "fuzz/target.hpp"

namespace fuzz::recognize_target {

using namespace zkadmin;

void read_record(std::string_view data) {
  require(recipe_of(data) == recipe::none || is_record(data), "only a record tells its recipe");
  require(is_record(data) || mark_of(data).empty(), "only a record has a mark");
  const auto stored = parse_stored(data);
  require(text_field(stored, "zkrecipes") == mark_of(data), "the mark is a field");
  integer_field(stored, "epoch");
}

void read_items(const std::vector<std::string>& names) {
  const auto all = read_names(names);
  require(all.items + all.claimed <= names.size(), "no item without a node");
  require(all.claims.size() <= all.claimed && (all.items > 0) != all.oldest.empty(), "the first item is an item");
  require(!all.due || all.due->count() >= 0, "no item was due before 1970");
  for (const auto& each : names) require(!is_item_name(each) || is_leaf_name(each), "there is no election at an item");
}

void read_node(std::string_view input) {
  auto lines = lines_of(input);
  read_record(lines.front());
  for (const auto& each : lines) {
    is_candidate_name(each), is_lease_name(each);
    if (const auto named = recipe_named(each))
      require(recipe_named(identifier_of(*named)) == named, "a recipe has one name in files");
  }
  lines.erase(lines.begin());
  read_items(lines);
  const auto among = recipe_among(lines);
  for (const auto& each : lines) is_part_of(among, each);
}

const target known("recognize", read_node);

}  // namespace fuzz::recognize_target
