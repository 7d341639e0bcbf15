// The keys and the commands.
#include "screen/key_table.hpp"
#include "screen/page_content.hpp"

namespace zkadmin {

void add_help(sheet& to) {
  to.add_heading(title_of(page::help));
  for (const auto& each : key_table()) to.add_field(keys_of(each, "  "), each.what);
  to.add_heading("COMMANDS");
  for (const auto& each : all_pages()) to.add_field(":", each.commands);
  to.add_field(":/PATH", "details of what is at this path");
  to.add_field(":q", "quit");
  to.add_heading("FILTER");
  to.add_text(
      "A filter is a part of a line. Capitals in it count, otherwise it stands for both cases; ! in front inverts it.");
  to.add_text("This screen only reads. To intervene: zkadmin resign PATH");
}

}  // namespace zkadmin
