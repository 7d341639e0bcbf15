#include "report/tsv.hpp"

#include <cstdio>
#include <string_view>

#include "text.hpp"

namespace zkadmin {
namespace {

void append_character(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  char code[8];
  if (byte >= 0x20 && byte != 0x7f) {
    text += c;
  } else {
    std::snprintf(code, sizeof code, "\\x%02x", byte);
    text += code;
  }
}

std::string escaped(std::string_view field) {
  std::string text;
  for (const char c : field) {
    switch (c) {
      case '\t': text += "\\t"; break;
      case '\n': text += "\\n"; break;
      case '\r': text += "\\r"; break;
      case '\\': text += "\\\\"; break;
      default: append_character(text, c);
    }
  }
  return well_formed(text);
}

}  // namespace

std::string tsv_line(std::initializer_list<std::string> fields) {
  std::string text;
  for (const auto& each : fields) text += escaped(each) + "\t";
  if (!text.empty()) text.pop_back();
  return text + "\n";
}

}  // namespace zkadmin
