#include "report/tsv.hpp"

#include <string_view>

#include "format/shown_text.hpp"

namespace zkadmin {
namespace {

std::string escaped(std::string_view field) {
  constexpr std::string_view plain = "\t\n\r\\";
  constexpr std::string_view letters = "tnr\\";
  std::string text;
  for (auto at = field.find_first_of(plain); at != field.npos; at = field.find_first_of(plain)) {
    text += zkrecipes::detail::coded_text(field.substr(0, at));
    text += {'\\', letters[plain.find(field[at])]};
    field.remove_prefix(at + 1);
  }
  return text + zkrecipes::detail::coded_text(field);
}

}  // namespace

std::string tsv_line(std::initializer_list<std::string> fields) {
  std::string text;
  for (const auto& each : fields) text += escaped(each) + "\t";
  if (!text.empty()) text.pop_back();
  return text + "\n";
}

}  // namespace zkadmin
