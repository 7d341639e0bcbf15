// The programs that measure Curator and kazoo.
#pragma once

#include "support/line_process.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace bench {

/// One of them at work on one part of what is measured; killed with this object.
class peer {
 public:
  /// `name`: curator or kazoo. `program`: tests/bench/peers/run.
  peer(const std::string& program, const std::string& name, const std::string& part, const std::string& hosts,
       const std::vector<std::string>& options = {});
  /// Ours, at such work.
  explicit peer(const std::vector<std::string>& command) : process_("ours", command) {}

  /// Waits for its next line. \throws std::runtime_error when it has ended, or takes too long.
  std::string line();
  void tell(const std::string& line) { process_.tell(line); }
  /// Waits for the figures that it ends with.
  boost::json::object figures();

 private:
  zkrecipes::test::line_process process_;
};

}  // namespace bench
