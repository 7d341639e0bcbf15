// What the guardian and an ending process say to each other: one JSON object in a line. An order is the session and its
// terms, in the lines of guardian_message.hpp, and then {"order": number, "within_ms": time}. The answer is
// {"order": number, "problem": text, "died": count, "passed_over": count, "closed": true or false}.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <zkrecipes/lease_clock.hpp>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

// The end of one session of a dead process, as a function, so that tests can have another one.

/// A session whose process is dead, and the terms that it led in it.
struct session_of_the_dead {
  zkrecipes::backend::guarded_session session;
  std::vector<zkrecipes::backend::guarded_term> terms;
  uid_t user = 0;
};

struct ending {
  std::string problem{};        ///< Empty if there was none.
  std::size_t died = 0;         ///< Records that say so now.
  std::size_t passed_over = 0;  ///< Records that name somebody else, or an end.
  bool is_closed = false;
};

/// Writes `died` into the records and closes the session. `done` is called once, later, on the guardian's thread.
using session_ender = std::function<void(session_of_the_dead, zkrecipes::lease_clock::time_point deadline,
                                         std::function<void(const ending&)> done)>;

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
