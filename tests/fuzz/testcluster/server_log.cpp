// The logs of servers.
#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"
#include "logs.hpp"

namespace fuzz::server_log_target {

void read_log(std::string_view input) {
  static const written_file file("server.log");
  file.write(input);
  testcluster::command::server_log log(1, file.path());
  std::string last;
  const auto read_lines = [&] {
    while (const auto& line = log.peek()) {
      require(line->find('\n') == line->npos, "a line has no line end");
      last = log.time();
      log.pop();
    }
  };
  read_lines();
  log.finish();
  read_lines();
}

const target known("server_log", read_log);

}  // namespace fuzz::server_log_target
