// What the guardian and an ending process say to each other: one JSON object in a line. An order is the session and its
// terms, in the lines of guardian_message.hpp, and then {"order": number, "within_ms": time}. The answer is
// {"order": number, "problem": text, "died": count, "passed_over": count, "closed": true or false}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "session_ender.hpp"

namespace guardian {

struct ending_order {
  std::int64_t number = 0;
  session_of_the_dead what;
  std::chrono::milliseconds within{0};
};

struct ending_answer {
  std::int64_t number = 0;
  ending result;
};

/// All lines of an order. Nothing if a session or a term makes a longer line than it came in, and a too long one.
std::optional<std::string> to_lines(const ending_order& order);
std::string to_line(const ending_answer& answer);
/// Nothing if it is not an answer.
std::optional<ending_answer> parse_ending_answer(std::string_view line);

/// Puts an order together, line by line.
class ending_order_reader {
 public:
  /// The order, with its last line. \throws std::runtime_error if the line does not fit.
  std::optional<ending_order> hear(std::string_view line);

 private:
  session_of_the_dead told_;
};

}  // namespace guardian
