// The pages of the screen, and the places where the user can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zkadmin {

/// In the order of their keys.
enum class page : std::uint8_t {
  overview,
  problems,
  elections,
  groups,
  topics,
  recipes,
  commits,
  events,
  servers,
  help
};
inline constexpr std::size_t page_count = 10;

struct page_info {
  page which;
  const char* digits;    ///< The keys that lead to it.
  const char* title;     ///< As in its heading.
  const char* commands;  ///< Names for the command line, with a space between them.
  const char* what;      ///< For people.
};

/// All pages but the help, which is not among those that tab goes through.
std::span<const page_info> all_pages() noexcept;

/// The page with this name on the command line.
std::optional<page> page_named(std::string_view command) noexcept;

/// The title of a page.
const char* title_of(page which) noexcept;

/// A page, or the details of one thing on it.
struct screen_place {
  page which = page::overview;
  std::string item{};  ///< The path or the name of the thing; empty: the page itself.
  friend bool operator==(const screen_place&, const screen_place&) = default;
};

}  // namespace zkadmin
