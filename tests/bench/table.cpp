#include "table.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace bench {

namespace json = boost::json;

namespace {

struct column {
  const char* title;
  const char* name;
  figure row::*which;
};

constexpr column columns[] = {{"ours", "ours", &row::ours},
                              {"Curator", "curator", &row::curator},
                              {"kazoo", "kazoo", &row::kazoo},
                              {"bare C", "bare", &row::bare}};

bool has_ratios(const row& each) { return each.unit == per_second || each.unit == nanoseconds; }

/// Our figure divided by another one; null if they are not compared or one is missing.
json::value ratio(const row& of, const json::value& other) {
  if (!has_ratios(of) || !of.ours.value.is_number() || !other.is_number()) return nullptr;
  return of.ours.value.to_number<double>() / other.to_number<double>();
}

json::value rounded(const json::value& value) {
  return value.is_number() ? json::value(std::round(value.to_number<double>() * 1000) / 1000) : value;
}

void print_cell(const figure& what, bool is_rate) {
  if (!what.value.is_number()) {
    std::printf("%10s      ", "-");
    return;
  }
  std::printf(is_rate ? "%10.0f" : "%10.2f", what.value.to_number<double>());
  if (what.spread) {
    std::printf(" ~%2.0f%% ", *what.spread * 100);
  } else {
    std::printf("      ");
  }
}

void print_ratios(const row& each) {
  const char* begin = "  ours is";
  for (const auto& other : columns) {
    const auto times = ratio(each, (each.*other.which).value);
    if (other.which == &row::ours || !times.is_number()) continue;
    std::printf("%s %.2fx %s", std::exchange(begin, ","), times.as_double(), other.title);
  }
}

void print_row(const row& each) {
  const bool is_rate = each.unit == per_second;
  std::printf("  %-50s", each.operation.c_str());
  for (const auto& one : columns) print_cell(each.*one.which, is_rate);
  if (has_ratios(each)) print_ratios(each);
  std::printf("\n");
}

bool varies(const row& each) {
  for (const auto& one : columns) {
    if ((each.*one.which).spread) return true;
  }
  return false;
}

}  // namespace

void print(const std::vector<row>& rows) {
  std::string unit;
  bool any_varies = false;
  for (const auto& each : rows) {
    if (unit != each.unit) {
      std::printf("%-52s", each.unit.c_str());
      for (const auto& one : columns) std::printf("%10s      ", one.title);
      std::printf("\n");
    }
    unit = each.unit;
    print_row(each);
    any_varies = any_varies || varies(each);
  }
  if (any_varies) std::puts("~: the distance between the least and the largest round, of the median that is shown");
}

json::array to_json(const std::vector<row>& rows) {
  json::array all;
  for (const auto& each : rows) {
    json::object cells{{"part", each.part}, {"operation", each.operation}, {"unit", each.unit}};
    for (const auto& one : columns) {
      const auto& what = each.*one.which;
      cells[one.name] = rounded(what.value);
      if (what.spread) cells[std::string(one.name) + "_spread"] = rounded(*what.spread);
      const bool is_other = one.which != &row::ours;
      if (is_other && has_ratios(each)) cells[std::string("times_") + one.name] = rounded(ratio(each, what.value));
    }
    all.push_back(std::move(cells));
  }
  return all;
}

}  // namespace bench
