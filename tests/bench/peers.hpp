// The programs that measure Curator and kazoo.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "support/line_process.hpp"

namespace bench {

/// A running peer program that measures one part; killed by the destructor.
class peer {
 public:
  /// `name`: curator or kazoo. `program`: tests/bench/peers/run.
  peer(const std::string& program, const std::string& name, const std::string& part, const std::string& hosts,
       const std::vector<std::string>& options = {});
  /// Our own program, run in the same way.
  explicit peer(const std::vector<std::string>& command) : process_("ours", command) {}

  /// Waits for the program's next line. \throws std::runtime_error if the program has ended or takes too long.
  std::string line();
  void tell(const std::string& line) { process_.tell(line); }
  /// Waits for the figures that the program prints last.
  boost::json::object figures();

 private:
  zkrecipes::test::line_process process_;
};

}  // namespace bench
