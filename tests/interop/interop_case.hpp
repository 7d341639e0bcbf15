// A case with workers in three languages, two of each, and a witness that records which workers are inside.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "support/fixture.hpp"
#include "support/line_process.hpp"

namespace interop {

/// The worker of this name. All workers are started once, for all cases.
zkrecipes::test::line_process& worker(const std::string& name);

struct participant {
  const char* worker;  ///< cpp1, cpp2, java1, java2, python1 or python2.
  const char* kind;
};

/// The fixture checks that no nodes, watches and the like are left.
struct interop_case : zkrecipes::test::fixture {
  interop_case();
  void teardown();

  /// Connects these workers to a recipe at "/line" and to the witness.
  void open(std::initializer_list<participant> who);

  /// Sends a command to a worker, and returns its answer.
  std::string ask(const std::string& who, const std::string& command);
  /// The answer to a command that was sent before.
  std::string answer_of(const std::string& who);
  /// Whether the answer is there within half a second, which is longer than a turn takes and shorter than `time_limit`.
  bool answers_soon(const std::string& who);
  /// All workers take turns at once until the witness has counted this many hand-offs. Each answer must be "ok".
  void take_turns(int hand_offs);
  /// Waits until this many stand in line.
  void await_in_line(std::size_t count);

  boost::json::object witnessed();
  /// Ends the workers' sessions.
  void close_all();
  /// Does the same. Then nobody may be inside or in line, and the witness must have changed exactly twice for each
  /// turn.
  void finish();

  std::vector<std::string> opened;
  std::map<std::string, std::string> early;  ///< Answers that `answers_soon` has received.
};

}  // namespace interop
