#include "group_samples.hpp"

#include <utility>

#include "samples.hpp"

namespace samples {

using namespace std::chrono_literals;
using namespace zkadmin;
using zkrecipes::shard_group_view;
using zkrecipes::term_phase;

namespace {

const std::string node_1 = "_c_11-member-0000000001";
const std::string node_2 = "_c_22-member-0000000002";
const std::string node_of_the_dead = "_c_33-member-0000000003";

std::int64_t before_noon(std::chrono::milliseconds age) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(noon().time_since_epoch() - age).count();
}

zkrecipes::shard_view shard(std::uint32_t number, const std::string& to) {
  zkrecipes::shard_view one;
  one.number = number;
  one.assigned_to = to;
  return one;
}

zkrecipes::shard_view owned(std::uint32_t number, const std::string& id, const std::string& node) {
  auto one = shard(number, node);
  one.epoch = 2;
  one.phase = term_phase::executing;
  one.owner = id;
  one.owner_node = node;
  one.since = before_noon(90s);
  return one;
}

}  // namespace

shard_group_view group_view() {
  shard_group_view view;
  view.count = 12;
  view.is_frozen = true;
  view.members = {{node_1, "orders-1", "10.0.0.7:8080", 1, false, "", 0, 17, {}},
                  {node_2, "orders-2", "", 0.5, true, "", 0, 17, {}}};
  view.away = {{"orders-4", 10s, {8, 9}, before_noon(4s)}};
  for (std::uint32_t i = 0; i < 4; ++i) view.shards.push_back(owned(i, "orders-1", node_1));
  view.shards.push_back(owned(4, "orders-2", node_2));
  view.shards.push_back(owned(5, "orders-2", node_2));  // on the way
  view.shards[5].assigned_to = node_1;
  view.shards[5].phase = term_phase::handing_over;
  view.shards[5].since = before_noon(1200ms);
  view.shards.push_back(owned(6, "orders-3", node_of_the_dead));
  view.shards[6].assigned_to = node_1;
  view.shards.push_back(shard(7, node_2));
  view.shards.push_back(shard(8, ""));
  view.shards.push_back(shard(9, ""));
  view.shards.push_back(owned(10, "orders-3", node_of_the_dead));
  view.shards[10].is_in_quarantine = true;
  view.shards[10].assigned_to.clear();
  view.shards[10].quarantine = {3, "orders-3"};
  view.shards.push_back(shard(11, ""));
  return view;
}

group_status group() { return status_of("/orders", group_view(), {"orders-1"}, noon()); }

group_survey groups() {
  group_status quiet;
  quiet.path = "/parcels";
  quiet.shards = 256;
  quiet.unassigned = {0, 1, 2};
  group_survey all;
  all.found = {group(), quiet};
  return all;
}

}  // namespace samples
