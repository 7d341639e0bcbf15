// The list of a page, as data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "screen/model.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

// Selects rows of a list by a text.

/// Whether the text contains the filter. Letters of the filter without capitals stand for both cases. A `!` in front
/// of it selects the texts that do not contain it. An empty filter selects all.
bool passes(std::string_view text, std::string_view filter);

/// What belongs to a row besides its cells.
struct list_key {
  std::string id;                        ///< Distinguishes it from all other rows of the page.
  std::optional<screen_place> target{};  ///< Where `enter` leads.
};

struct list_view {
  table content;
  std::vector<list_key> keys;  ///< One for each row.
  table_cell remark{};         ///< About all of them.
  bool is_known = true;        ///< False: nothing is known of them yet.
  bool follows_top = false;    ///< The first row stays selected when others come before it.
  std::size_t total = 0;       ///< Rows without the filter.

  void add(list_key key, table_row row) {
    keys.push_back(std::move(key));
    content.rows.push_back(std::move(row));
  }
};

/// The list of a page (not of the help) with the filter and the order that the user has chosen.
list_view list_of(const model& state, page which);

/// "TOPICS 3 of 120 /mail by LAG".
std::string heading_of(const model& state, page which, const list_view& list, const std::string& title);

}  // namespace zkadmin
