#include "security/exposure_rules.hpp"

#include <string>
#include <utility>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr const char* close_admin_server = "zoo.cfg: admin.enableServer=false, or admin.serverAddress=127.0.0.1";

std::string listed_names(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& each : all) append_to_list(text, shortened(each, 80));
  return text;
}

/// Adds problems of one server.
struct server_judgement {
  const server_exposure& seen;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text, std::string cure) {
    found.push_back({name, how_bad, seen.server, std::move(text), std::move(cure)});
  }
};

void judge_admin_server(server_judgement& about) {
  const auto& seen = about.seen;
  const auto where = "the AdminServer at " + seen.admin_server;
  if (!seen.secrets.empty() && seen.is_admin_local) {
    about.add("admin-server-tells-secrets", severity::warning,
              where + " shows every user of this machine " + listed_names(seen.secrets),
              "zoo.cfg: give passwords as files, or admin.enableServer=false; then change these secrets");
  } else if (!seen.secrets.empty()) {
    about.add("admin-server-tells-secrets", severity::critical,
              where + " shows everybody " + listed_names(seen.secrets),
              std::string(close_admin_server) + "; then change these secrets");
  }
  if (!seen.admin_server.empty() && !seen.is_admin_local)
    about.add("admin-server-open", severity::warning,
              where + " answers everybody: settings, sessions, paths of nodes, whatever their ACLs",
              close_admin_server);
}

void judge_ports(server_judgement& about, bool has_tls) {
  const auto& seen = about.seen;
  if (!seen.has_secure_port) return;
  if (!*seen.has_secure_port && !has_tls) {
    about.add("no-secure-port", severity::warning, "it has no port for TLS: passwords and data can be read on the way",
              "zoo.cfg: secureClientPort, with a key store");
  } else if (seen.has_plain_port.value_or(false)) {
    about.add("plain-port-open", severity::warning,
              "it has a port without TLS beside the secure one, at which no certificate is asked for",
              "zoo.cfg: remove clientPort, or keep it from others with a firewall");
  }
}

}  // namespace

problem_list problems_of(const server_exposure& seen, bool has_tls) {
  server_judgement about{seen};
  if (seen.skips_acls.value_or(false))
    about.add("acls-skipped", severity::critical, "it obeys no ACL: everybody may do everything",
              "zoo.cfg: remove skipACL=yes");
  judge_admin_server(about);
  if (seen.all_words.value_or(false))
    about.add("all-words-allowed", severity::warning,
              "it answers every four-letter word, also those that list all watches and sessions, or reset figures",
              "zoo.cfg: 4lw.commands.whitelist=srvr");
  judge_ports(about, has_tls);
  return std::move(about.found);
}

bool tells_settings(const server_exposure& seen) noexcept {
  return !seen.admin_server.empty() || seen.has_plain_port || seen.all_words;
}

}  // namespace zkadmin
