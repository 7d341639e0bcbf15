// The lines between a process and the guardian of its machine.
#include "backend/guardian/guardian_message.hpp"

#include "fuzz/target.hpp"

namespace fuzz::guardian_message_target {

using namespace zkrecipes::backend;

std::string_view without_line_end(std::string_view line) { return line.substr(0, line.size() - 1); }

void read_line(std::string_view input) {
  const auto read = parse_guardian_message(input);
  require(read.message.has_value() == read.problem.empty(), "a line is a message, or has a problem");
  if (read.message) {
    const auto line = to_line(*read.message);
    require(line && line->ends_with('\n') && line->size() <= longest_line, "a message fits into a line");
    const auto again = parse_guardian_message(without_line_end(*line));
    require(again.message == read.message, "a message reads the same");
  }
  if (const auto answer = parse_guardian_answer(input)) {
    const auto line = to_line(*answer);
    require(line.find('\n') == line.size() - 1, "an answer is one line");
    require(parse_guardian_answer(without_line_end(line)) == answer, "an answer reads the same");
  }
}

const target known("guardian_message", read_line);

}  // namespace fuzz::guardian_message_target
