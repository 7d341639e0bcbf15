#include "screen/model.hpp"

#include <algorithm>
#include <array>

namespace zkadmin {

namespace {

constexpr std::array<page_info, page_count - 1> pages{{
    {page::overview, "1", "OVERVIEW", "overview ov", "overview: servers, elections, shard groups, events"},
    {page::problems, "2", "PROBLEMS", "problems pr", "all problems, the critical ones first"},
    {page::elections, "3", "ELECTIONS", "elections el", "elections"},
    {page::groups, "4", "SHARD GROUPS", "groups gr", "shard groups"},
    {page::topics, "5", "TOPICS", "topics to", "topics, a line for each group of consumers"},
    {page::recipes, "6", "RECIPES", "recipes queues re", "other recipes, such as queues"},
    {page::commits, "7", "TRANSACTIONS", "transactions commits tx", "undecided transactions of two-phase commits"},
    {page::events, "8", "EVENTS", "events ev", "events, the newest first"},
    {page::servers, "90", "SERVERS", "servers ensemble sv", "servers"},
}};

bool has_word(std::string_view words, std::string_view wanted) noexcept {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == wanted) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const page_info> all_pages() noexcept { return pages; }

std::optional<page> page_named(std::string_view command) noexcept {
  if (command == "help") return page::help;
  for (const auto& each : pages)
    if (has_word(each.commands, command)) return each.which;
  return std::nullopt;
}

const char* title_of(page which) noexcept {
  return which == page::help ? "KEYS" : pages[static_cast<std::size_t>(which)].title;
}

}  // namespace zkadmin
