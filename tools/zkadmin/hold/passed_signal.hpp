// What the front process tells the keeper of a signal that it got.
#pragma once

namespace zkadmin {

struct passed_signal {
  unsigned char number;
  bool is_of_terminal;  ///< All processes of the terminal's job have got it, the command too.
};

}  // namespace zkadmin
