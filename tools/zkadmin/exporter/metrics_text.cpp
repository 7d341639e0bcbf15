#include "exporter/metrics_text.hpp"

#include <cmath>
#include <cstdio>

#include "format/shown_text.hpp"

namespace zkadmin {
namespace {

std::string label_value(const std::string& value) {
  std::string text;
  for (const char each : zkrecipes::detail::coded_text(value, "\n")) {  // a label is shown on terminals, too
    switch (each) {
      case '\\': text += "\\\\"; break;
      case '"': text += "\\\""; break;
      case '\n': text += "\\n"; break;
      default: text += each;
    }
  }
  return text;
}

std::string sample_value(double value) {
  constexpr double exact = 9'007'199'254'740'992;  // Up to here a double has all digits of a whole number.
  char text[48];
  const bool is_whole = std::abs(value) < exact && std::trunc(value) == value;
  std::snprintf(text, sizeof text, is_whole ? "%.0f" : "%.15g", value);
  return text;
}

}  // namespace

void metrics_text::begin(std::string_view name, std::string_view help) {
  name_ = name;
  heading_ = "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " gauge\n";
  seen_.clear();
}

void metrics_text::add(std::initializer_list<metric_label> labels, double value) {
  std::string all;
  for (const auto& each : labels) {
    all += all.empty() ? "{" : ",";
    all += std::string(each.name) + "=\"" + label_value(each.value) + "\"";
  }
  if (!all.empty()) all += "}";
  if (!seen_.insert(all).second) return;
  text_ += heading_;
  heading_.clear();
  text_ += name_ + all + " " + sample_value(value) + "\n";
}

}  // namespace zkadmin
