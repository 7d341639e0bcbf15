#include "table.hpp"

#include <cstdio>

namespace bench {

namespace json = boost::json;

namespace {

/// How many times that of the peer ours is; nothing where there is nothing to compare.
json::value ratio(const row& of, const json::value& peer) {
  if (of.unit != per_second || !of.ours.is_number() || !peer.is_number()) return nullptr;
  return of.ours.to_number<double>() / peer.to_number<double>();
}

void print_number(const char* format, const json::value& value) {
  if (value.is_number()) {
    std::printf(format, value.to_number<double>());
  } else {
    std::printf("%10s", "-");
  }
}

void print_row(const row& each) {
  const bool rate = each.unit == per_second;
  std::printf("  %-50s", each.operation.c_str());
  for (const auto* value : {&each.ours, &each.curator, &each.kazoo})
    print_number(rate ? "%10.0f" : "%10.2f", *value);
  if (rate) {
    std::printf("   ours is");
    for (const auto* peer : {&each.curator, &each.kazoo}) print_number("%9.1fx", ratio(each, *peer));
  }
  std::printf("\n");
}

}  // namespace

void print(const std::vector<row>& rows) {
  std::string unit;
  for (const auto& each : rows) {
    if (unit != each.unit) std::printf("%-52s%10s%10s%10s\n", each.unit.c_str(), "ours", "Curator", "kazoo");
    unit = each.unit;
    print_row(each);
  }
}

json::array to_json(const std::vector<row>& rows) {
  json::array all;
  for (const auto& each : rows) {
    json::object cells{{"operation", each.operation},
                       {"unit", each.unit},
                       {"ours", each.ours},
                       {"curator", each.curator},
                       {"kazoo", each.kazoo}};
    if (each.unit == per_second) {
      cells["times_curator"] = ratio(each, each.curator);
      cells["times_kazoo"] = ratio(each, each.kazoo);
    }
    all.push_back(std::move(cells));
  }
  return all;
}

}  // namespace bench
