#include "security/security_verdict.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "security/access_rules.hpp"

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

bool reports_settings(const server_exposure& seen) noexcept {
  return !seen.admin_server.empty() || seen.has_plain_port || seen.all_words;
}

namespace {

void add_all(problem_list& to, problem_list more) { std::move(more.begin(), more.end(), std::back_inserter(to)); }

void judge_rights(verdict& judged, const security_findings& seen) {
  if (!seen.rights) {
    judged.unknown.push_back({"access rights", "not known" + (seen.trouble.empty() ? "" : ": " + seen.trouble)});
    return;
  }
  std::size_t nodes = 0, recipes = 0;
  for (const auto& each : seen.rights->recipes) {
    add_all(judged.problems, problems_of(each));
    recipes += each.which != recipe::none;
    nodes += each.nodes.size() + each.own.has_value();
  }
  add_all(judged.problems, problems_of_parents(*seen.rights));
  add_all(judged.problems, problems_of_connection(*seen.rights, seen.is_secure));
  judged.unknown = seen.rights->notes;
  append_to_list(judged.extent, counted(recipes, "recipe"));
  append_to_list(judged.extent, counted(nodes, "node"));
}

/// One AdminServer beside several servers is told once.
std::vector<server_exposure> with_each_admin_server_once(std::vector<server_exposure> all) {
  std::set<std::string> told;
  for (auto& each : all) {
    if (each.admin_server.empty() || told.insert(each.admin_server).second) continue;
    each.admin_server.clear();
    each.secrets.clear();
    each.skips_acls.reset();
  }
  return all;
}

void judge_exposure(verdict& judged, const server_exposure& seen, bool is_secure) {
  add_all(judged.problems, problems_of(seen, is_secure));
  for (const auto& each : seen.gaps) judged.unknown.push_back({seen.server, each});
  if (!seen.admin_server.empty() && seen.is_admin_local)
    judged.remarks.push_back({seen.server, "the AdminServer at " + seen.admin_server +
                                               " answers this machine; whether it answers others is not known"});
}

void judge_servers(verdict& judged, const security_findings& seen) {
  std::set<std::string> reachable;
  for (const auto& each : seen.servers) {
    if (each.reachable) reachable.insert(each.server);
    if (!each.reachable) judged.unknown.push_back({each.server, each.error.empty() ? "has not answered" : each.error});
  }
  for (auto& each : with_each_admin_server_once(seen.exposures)) {
    if (!reachable.contains(each.server)) each.gaps.clear();  // told above
    judge_exposure(judged, each, seen.is_secure);
  }
  for (const auto& each : seen.exposures)
    if (!reports_settings(each) && each.gaps.empty() && reachable.contains(each.server))
      judged.remarks.push_back({each.server, "tells nobody its settings, so they were not looked at"});
  append_to_list(judged.extent, counted(seen.servers.size(), "server"));
}

}  // namespace

verdict judge_security(const security_findings& seen, const wanted_kinds& kinds) {
  verdict judged;
  if (kinds.has_recipes()) judge_rights(judged, seen);
  // Without recipes the rights are not there to tell it.
  if (!kinds.has_recipes() && !seen.trouble.empty()) judged.unknown.push_back({"servers", seen.trouble});
  if (kinds.servers) judge_servers(judged, seen);
  std::stable_partition(judged.problems.begin(), judged.problems.end(),
                        [](const problem& each) { return each.how_bad == severity::critical; });
  return judged;
}

}  // namespace zkadmin
