// How a terminal shows a screen that zkadmin draws on it.
#pragma once

#include <string>
#include <vector>

#include "emulator.hpp"
#include "terminal/grid.hpp"

/// Draws the screen on a terminal of this type, and reads from what arrives there how each place of each line looks.
std::vector<std::vector<text_style>> styles_on(const std::string& terminal_type, bool color,
                                               const zkadmin::grid& screen);

/// A line such as ".3 Bcyan6": three plain places and six in bold cyan; plain places at the end are left out.
std::string to_text(const std::vector<std::vector<text_style>>& lines);
