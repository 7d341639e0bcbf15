// The list of hosts in the options of a session, paths, and hexadecimal text.
#include <stdexcept>

#include "backend/guardian/hex.hpp"
#include "fuzz/target.hpp"
#include "session/host_list.hpp"
#include "session/paths.hpp"

namespace fuzz::addresses_target {

using namespace zkrecipes;

void read_hosts(std::string_view input) try {
  const auto list = detail::parse_hosts(input);
  require(!list.servers.empty(), "there is a server");
  for (const auto& each : list.servers) {
    require(!each.address.empty() && each.port > 0, "a server has a name and a port");
    require(!detail::has_control(each.address), "the name of a server has no control character");
  }
  require(list.root.empty() || detail::path_problem(list.root).empty(), "the root is a path");
} catch (const std::invalid_argument& refused) {
  require(refused.what()[0] != '\0', "a refusal has a reason");
}

void read_addresses(std::string_view input) {
  read_hosts(input);
  if (detail::path_problem(input).empty()) {
    require(!detail::has_control(input) && input.front() == '/', "a path is absolute");
    const auto above = detail::parent_of(input);
    if (input != "/") require(detail::join(above, detail::name_of(input)) == input, "a path has a parent and a name");
  }
  if (const auto bytes = backend::from_hex(input)) require(backend::to_hex(*bytes) == input, "hex reads the same");
  if (const auto id = backend::session_from_hex(input))
    require(*id != 0 && backend::session_from_hex(backend::session_to_hex(*id)) == id, "a session id reads the same");
}

const target known("addresses", read_addresses);

}  // namespace fuzz::addresses_target
