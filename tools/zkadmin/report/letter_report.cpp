#include "report/letter_report.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using wall_time = std::chrono::system_clock::time_point;

constexpr std::size_t longest_cell = 60;    // of a table
constexpr std::size_t longest_value = 500;  // for programs

/// Never negative, although the clocks of the servers and ours may differ.
milliseconds age_of(const letter_status& each, wall_time now) {
  const auto since = milliseconds(each.letter.since);
  return std::max(std::chrono::duration_cast<milliseconds>(now.time_since_epoch()) - since, milliseconds(0));
}

std::string key_of(const letter_status& each) { return each.letter.key + (each.is_parked ? " (parked)" : ""); }

/// The first bytes of the data, and how much of the message the letter does not have.
std::string data_of(const letter_status& each) {
  auto shown = shortened(each.letter.data, longest_cell);
  if (each.letter.missing_bytes == 0) return or_dash(shown);
  if (!shown.empty()) shown += ' ';
  return shown + "(" + std::to_string(each.letter.missing_bytes) + " bytes missing)";
}

std::string heading_of(const letter_list& letters) {
  const auto count = letters.letters.size() + letters.not_read;
  auto text = printable(letters.path) + (letters.group.empty() ? "" : ", group " + printable(letters.group)) + ": ";
  text += counted(count, "dead letter");
  if (letters.foreign > 0) text += ", " + std::to_string(letters.foreign) + " nodes that are none";
  return text + "\n";
}

std::string letters_as_table(const letter_list& letters, wall_time now) {
  if (letters.letters.empty()) return heading_of(letters);
  const auto row = [now](const letter_status& each) {
    return row_of(each.letter.name, each.letter.item, each.letter.attempts, age_of(each, now),
                  or_dash(shortened(key_of(each), longest_cell)), or_dash(shortened(each.letter.reason, longest_cell)),
                  data_of(each));
  };
  const auto content =
      table_of({{"LETTER"}, {"ITEM"}, {"ATTEMPTS", 0, true}, {"FOR", 0, true}, {"KEY"}, {"REASON"}, {"DATA"}},
               letters.letters, row);
  return heading_of(letters) + "\n" + printed(content);
}

std::string letters_as_json(const letter_list& letters, wall_time now) {
  json::array all;
  for (const auto& each : letters.letters)
    all.push_back(json::object{{"letter", well_formed(each.letter.name)},
                               {"item", well_formed(each.letter.item)},
                               {"attempts", each.letter.attempts},
                               {"age_ms", age_of(each, now).count()},
                               {"key", or_null(each.letter.key)},
                               {"parked", each.is_parked},
                               {"reason", or_null(each.letter.reason)},
                               {"data", or_null(shortened(each.letter.data, longest_value))},
                               {"data_length", each.letter.data.size()},
                               {"missing_bytes", each.letter.missing_bytes}});
  const json::object document{{"schema", 1},
                              {"path", well_formed(letters.path)},
                              {"group", or_null(letters.group)},
                              {"complete", letters.not_read == 0},
                              {"not_read", letters.not_read},
                              {"foreign_nodes", letters.foreign},
                              {"letters", std::move(all)}};
  return json_line(document);
}

std::string letters_as_tsv(const letter_list& letters, wall_time now) {
  auto text = tsv_line("letters", letters.path, letters.group, letters.not_read == 0 ? "complete" : "incomplete",
                       letters.letters.size(), letters.not_read, letters.foreign);
  for (const auto& each : letters.letters)
    text += tsv_line("letter", each.letter.name, each.letter.item, each.letter.attempts, age_of(each, now).count(),
                     each.letter.key, each.is_parked, each.letter.reason, shortened(each.letter.data, longest_value),
                     each.letter.data.size(), each.letter.missing_bytes);
  return text;
}

}  // namespace

std::string formatted_letters(const letter_list& letters, output_format format, wall_time now) {
  return in_format(
      format, [&] { return letters_as_table(letters, now); }, [&] { return letters_as_json(letters, now); },
      [&] { return letters_as_tsv(letters, now); });
}

}  // namespace zkadmin
