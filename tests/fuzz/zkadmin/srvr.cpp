// The answers of servers to the four-letter word `srvr`.
#include "fuzz/target.hpp"
#include "servers/prober.hpp"

namespace fuzz::srvr_target {

void read_answer(std::string_view input) {
  const auto server = zkadmin::parse_srvr("127.0.0.1:2181", input);
  require(server.server == "127.0.0.1:2181", "the name of the server stays");
  require(server.reachable || !server.error.empty(), "a server that can not be used has a problem");
  require(!has_control(server.error) && !has_control(server.version), "no control character is shown");
  require(std::string_view(zkadmin::standing(server)).size() > 0, "the server has a standing");
  require(zkadmin::may_serve(server) || !zkadmin::is_serving(server), "a server that serves may serve");
}

const target known("srvr", read_answer);

}  // namespace fuzz::srvr_target
