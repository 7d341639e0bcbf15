#include "printable.hpp"

namespace testcluster::command {

namespace {

constexpr unsigned char lead_of_controls = 0xc2;  // of U+0080 to U+009F, and of other characters

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

std::string code_of(unsigned char c) {
  constexpr char digits[] = "0123456789abcdef";
  return {'\\', 'x', digits[c >> 4], digits[c & 15]};
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (c == lead_of_controls && next >= 0x80 && next < 0xa0) {
      shown += code_of(c) + code_of(next);
      ++i;
    } else if (is_control(c) && kept.find(text[i]) == kept.npos) {
      shown += code_of(c);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) { return without_controls(text, {}); }

std::string printable_log_line(std::string_view text) { return without_controls(text, "\t"); }

}  // namespace testcluster::command
