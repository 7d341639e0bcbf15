// How the user moves on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "screen/model.hpp"

namespace zkadmin {

/// Shows a place, and remembers the present one.
void go_to(model& state, screen_place where);

/// Shows the place before the present one; the overview if there is none.
void go_back(model& state);

/// Shows the place where the user was before; a second time leads back here.
void go_to_previous(model& state);

/// The page that is so many pages further, round and round.
void go_to_neighbour(model& state, int step);

/// Details of what is at this path.
void go_to_path(model& state, const std::string& path);

/// Moves the selection of a list, or the text of another page, by so many lines; a negative number goes up.
void move_by(model& state, std::ptrdiff_t lines);
void move_to_first(model& state);
void move_to_last(model& state);

/// Lines of the part that moves.
int lines_of_page(const model& state);

/// Opens what is selected.
void open_selected(model& state);

/// Makes the selection follow its row, and keeps it and the scrolled text on the screen. Leaves the details of what is
/// not there any more.
void settle(model& state);

}  // namespace zkadmin
