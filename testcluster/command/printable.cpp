#include "printable.hpp"

#include "format/shown_text.hpp"

namespace testcluster::command {

std::string printable(std::string_view text) { return zkrecipes::detail::coded_text(text); }

std::string printable_lines(std::string_view text) { return zkrecipes::detail::coded_text(text, "\t\n"); }

std::string printable_json(std::string_view text) { return zkrecipes::detail::coded_json(text); }

}  // namespace testcluster::command
