#include "screen/filter.hpp"

#include <algorithm>

namespace zkadmin {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_capitals(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) { return c != lower(c); });
}

}  // namespace

bool passes(std::string_view text, std::string_view filter) {
  const bool is_inverted = filter.starts_with('!');
  if (is_inverted) filter.remove_prefix(1);
  if (filter.empty()) return true;
  const bool is_exact = has_capitals(filter);
  const auto same = [is_exact](char a, char b) { return (is_exact ? a : lower(a)) == b; };
  const bool is_in = std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end();
  return is_in != is_inverted;
}

}  // namespace zkadmin
