#include "external/shown_words.hpp"

#include "format/shown_text.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_shown_bytes = 1'000;

}  // namespace

std::string shown_words(std::string_view said) {
  auto shown = shown_text(said.substr(0, most_shown_bytes));
  if (said.size() > most_shown_bytes) shown += "...";
  return shown;
}

}  // namespace zkrecipes::detail
