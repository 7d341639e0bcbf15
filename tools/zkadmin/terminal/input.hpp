// What the user types.
#pragma once

#include <string>

namespace zkadmin {

/// A character, or one of the keys below, which have none. Their values are beyond those of all characters.
using stroke = char32_t;

namespace strokes {

inline constexpr stroke enter = U'\r';
inline constexpr stroke escape = 0x1b;
inline constexpr stroke tab = U'\t';
inline constexpr stroke backspace = 0x7f;
inline constexpr stroke up = 0x110000;
inline constexpr stroke down = 0x110001;
inline constexpr stroke home = 0x110002;
inline constexpr stroke end = 0x110003;
inline constexpr stroke page_up = 0x110004;
inline constexpr stroke page_down = 0x110005;
inline constexpr stroke shift_tab = 0x110006;
inline constexpr stroke wheel_up = 0x110007;
inline constexpr stroke wheel_down = 0x110008;
inline constexpr stroke other = 0x11ffff;  ///< A key that means nothing to us.

/// The letter typed together with the control key.
constexpr stroke control(char letter) noexcept { return static_cast<stroke>(letter & 0x1f); }

}  // namespace strokes

/// As people write it: "j", "ctrl-d", "PgUp".
std::string name_of(stroke typed);

/// A descriptor that is readable when the input is. Asio does not wait on the input itself, because it would make the
/// input non-blocking for all processes that share the terminal, such as the shell. Throws std::system_error.
int watch_for_input(int descriptor);

/// An input has ended if it is readable although no bytes are available.
bool has_ended(int descriptor);

}  // namespace zkadmin
