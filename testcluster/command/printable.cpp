#include "printable.hpp"

namespace testcluster::command {

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (const unsigned char c : text) {
    if ((c >= 0x20 && c != 0x7f) || c == '\t') {
      shown += static_cast<char>(c);
    } else {
      shown += {'\\', 'x', digits[c >> 4], digits[c & 15]};
    }
  }
  return shown;
}

}  // namespace testcluster::command
