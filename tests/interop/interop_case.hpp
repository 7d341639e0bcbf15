// A case with workers in three languages, two of each, and a witness of who is inside.
#pragma once

#include "support/fixture.hpp"
#include "support/line_process.hpp"

#include <boost/json/object.hpp>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace interop {

/// Started once for all cases.
zkrecipes::test::line_process& worker(const std::string& name);

struct participant {
  const char* worker;  ///< cpp1, cpp2, java1, java2, python1 or python2.
  const char* kind;
};

/// The fixture looks for nodes, watches and the like that are left.
struct interop_case : zkrecipes::test::fixture {
  interop_case();
  void teardown();

  /// Connects these workers; to a recipe at "/line", witnessed.
  void open(std::initializer_list<participant> who);

  /// Tells a worker, and returns its answer.
  std::string ask(const std::string& who, const std::string& command);
  /// The answer to what it has been told already.
  std::string answer_of(const std::string& who);
  /// Whether the answer is there within a moment: longer than a turn takes, shorter than patience.
  bool answers_soon(const std::string& who);
  /// All take turns at once until the witness has counted so many hand-offs; each answer has to be "ok".
  void take_turns(int hand_offs);
  /// Waits until so many stand in line.
  void await_in_line(std::size_t count);

  boost::json::object witnessed();
  /// Ends the workers' sessions.
  void close_all();
  /// The same; then nobody is inside, nobody stands in line, and every change of the witness was
  /// that of a turn.
  void finish();

  std::vector<std::string> opened;
  std::map<std::string, std::string> early;  ///< Answers that `answers_soon` has seen.
};

}  // namespace interop
