#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <zkrecipes/service/metrics_page.hpp>

#include "format/shown_text.hpp"

namespace zkrecipes::service {
namespace {

/// In one line; `marked`: what has a backslash in front. Valid UTF-8 without orders for a terminal, because the page is
/// shown there, too.
std::string escaped(std::string_view text, std::string_view marked) {
  std::string result;
  for (const char each : detail::coded_text(text, "\n")) {
    if (each == '\n') {
      result += "\\n";
      continue;
    }
    if (marked.find(each) != marked.npos) result += '\\';
    result += each;
  }
  return result;
}

}  // namespace

std::string metrics_page::show(double value) {
  constexpr double exact = 9'007'199'254'740'992;  // up to here a double has all digits of a whole number
  if (std::abs(value) < exact && std::trunc(value) == value) return std::to_string(static_cast<std::int64_t>(value));
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

void metrics_page::add(const std::string& name, std::string_view type, std::string_view help, const std::string& value,
                       const labels& of) {
  std::string all;
  for (const auto& [label, text] : of) all += (all.empty() ? "{" : ",") + label + "=\"" + escaped(text, "\"\\") + '"';
  if (!all.empty()) all += '}';
  auto& found = metrics_.try_emplace(name, metric{type, std::string(help)}).first->second;
  if (found.seen.insert(all).second) found.samples += name + all + ' ' + value + '\n';
}

std::string metrics_page::text() const {
  std::string result;
  for (const auto& [name, each] : metrics_) {
    result += "# HELP " + name + ' ' + escaped(each.help, "\\") + '\n';
    result += "# TYPE " + name + ' ' + std::string(each.type) + '\n';
    result += each.samples;
  }
  return result;
}

}  // namespace zkrecipes::service
