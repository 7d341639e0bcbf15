// What servers answer.
#include "fuzz/target.hpp"
#include "security/security_verdict.hpp"
#include "servers/prober.hpp"
#include "sessions/session_answers.hpp"

namespace fuzz::zkadmin_servers_targets {

// The answers of servers to the four-letter word `srvr`.

void read_srvr(std::string_view input) {
  const auto server = zkadmin::parse_srvr("127.0.0.1:2181", input);
  require(server.server == "127.0.0.1:2181", "the name of the server stays");
  require(server.reachable || !server.error.empty(), "a server that can not be used has a problem");
  require(!has_control(server.error) && !has_control(server.version), "no control character is shown");
  require(std::string_view(zkadmin::standing(server)).size() > 0, "the server has a standing");
  require(zkadmin::may_serve(server) || !zkadmin::is_serving(server), "a server that serves may serve");
}

// What servers answer about their sessions: to the four-letter words `cons` and `dump`, and by their AdminServers.

void require_connections(const zkadmin::told_connections& told) {
  require(told.is_answer || !told.trouble.empty(), "what is no answer has a reason");
  require(told.is_answer || told.sessions.empty(), "what is no answer tells of no session");
  require(!has_control(told.trouble), "no control character is shown");
  for (const auto& each : told.sessions) {
    require(each.id != 0, "a connection without a session is none");
    require(!each.timeout || each.timeout->count() >= 0, "a timeout is not below 0");
  }
}

void require_owners(const zkadmin::told_owners& told) {
  require(told.is_answer || !told.trouble.empty(), "what is no answer has a reason");
  require(told.is_answer || told.nodes.empty(), "what is no answer tells of no node");
  require(!has_control(told.trouble), "no control character is shown");
  for (const auto& [id, paths] : told.nodes)
    for (const auto& each : paths) require(each.starts_with('/'), "a node has a path");
}

/// Settings, as the word `conf` and the AdminServer tell them.
void require_settings(std::string_view input) {
  zkadmin::server_exposure seen{"a:2181"};
  const bool is_answer = zkadmin::add_conf(seen, input);
  require(is_answer || !seen.has_plain_port, "what is no answer tells of no port");
  zkadmin::add_properties(seen, input);
  require(seen.secrets.size() <= 20, "not all of a long answer is kept");
  for (const auto& each : zkadmin::problems_of(seen, false))
    require(each.text.size() < 4'000, "a text has an end, however long the names are");
}

void read_answer(std::string_view input) {
  require_settings(input);
  require_connections(zkadmin::parse_cons(input));
  require_connections(zkadmin::parse_admin_connections(input));
  require_owners(zkadmin::parse_dump(input));
  require_owners(zkadmin::parse_admin_dump(input));
  require(!has_control(zkadmin::doubts_about_admin(input, {{}, 2181})), "no control character is shown");
  const auto server = zkadmin::parse_conf(input);
  require(!has_control(server.trouble), "no control character is shown");
  require(!server.trouble.empty() || !server.data_dir.empty(), "a server that is known has a data directory");
}

const target known[] = {{"srvr", read_srvr}, {"session_answers", read_answer}};

}  // namespace fuzz::zkadmin_servers_targets
