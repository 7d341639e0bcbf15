// Draws the dashboard into cells, of the content that is made once for each change of what it shows.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "screen/list_view.hpp"
#include "screen/model.hpp"
#include "screen/pages.hpp"
#include "terminal/grid.hpp"

namespace zkadmin {

// The content of the page on the screen, made once for each change of what it shows.

/// All that the content depends on.
struct page_inputs {
  screen_place shown{};
  std::uint64_t revision = 0;  ///< The page's data has it.
  int width = 0;               ///< Details are made for it; lists are for any.
  std::string filter{};
  std::optional<std::size_t> sorted_by{};
  bool is_inverted = false;
  std::chrono::seconds utc_offset{0};
  std::chrono::seconds second{0};  ///< The clock, if the page shows times that pass.
  friend bool operator==(const page_inputs&, const page_inputs&) = default;
};

struct kept_page {
  page_inputs made_of;
  list_view list;    ///< Empty if details or help are shown.
  sheet details{0};  ///< Empty if a list is shown.
};

/// The content of the page that is shown, for a screen of this width: that which the model keeps, if it is still true.
std::shared_ptr<const kept_page> page_of(const model& state, int width);
inline std::shared_ptr<const kept_page> page_of(const model& state) { return page_of(state, state.width); }

struct view_options {
  bool ascii = false;
};

grid render(const model& state, int width, int height, const view_options& options);

}  // namespace zkadmin
