#include "external/shown_words.hpp"

#include <algorithm>

#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_shown_bytes = 1'000;

}  // namespace

std::string shown_words(std::string_view said) {
  std::string shown(said.substr(0, most_shown_bytes));
  std::ranges::replace_if(
      shown,
      [](const char& each) {
        return has_control({&each, 1});
      },
      '?');
  if (said.size() > most_shown_bytes) shown += "...";
  return shown;
}

}  // namespace zkrecipes::detail
