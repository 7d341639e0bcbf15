#include "metrics_page.hpp"

#include <array>
#include <charconv>

namespace service {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char each : text) {
    if (each == '\n') {
      result += "\\n";
      continue;
    }
    if (each == '"' || each == '\\') result += '\\';
    result += each;
  }
  return result;
}

}  // namespace

std::string metrics_page::show(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

void metrics_page::add(const std::string& name, std::string_view type, std::string_view help, const std::string& value,
                       const labels& of) {
  auto& samples = metrics_.try_emplace(name, metric{type, help}).first->second.samples;
  samples += name;
  const char* sign = "{";
  for (const auto& [label, text] : of) {
    samples += sign + label + "=\"" + escaped(text) + '"';
    sign = ",";
  }
  samples += (of.empty() ? " " : "} ") + value + '\n';
}

std::string metrics_page::text() const {
  std::string result;
  for (const auto& [name, each] : metrics_) {
    result += "# HELP " + name + ' ' + std::string(each.help) + '\n';
    result += "# TYPE " + name + ' ' + std::string(each.type) + '\n';
    result += each.samples;
  }
  return result;
}

}  // namespace service
