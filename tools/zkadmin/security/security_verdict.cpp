#include "security/security_verdict.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "security/access_rules.hpp"
#include "servers/admin_client.hpp"

namespace zkadmin {

namespace {

namespace json = boost::json;

constexpr std::size_t most_secrets = 20;

/// The value of a line "key=value"; nothing: there is no such line.
std::optional<std::string_view> line_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) return line.substr(key.size() + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<int> port_in(std::string_view text, std::string_view key) {
  const auto value = line_value(text, key);
  if (!value) return std::nullopt;
  int port = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), port);
  if (error != std::errc() || port < -1 || port > 65'535) return std::nullopt;
  return port;
}

/// A password, or the digest of a super user. Paths of files with passwords are none.
bool names_secret(std::string_view property) {
  std::string name(property);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.ends_with("password") || name.ends_with("superdigest");
}

std::string text_of_property(const json::object& all, const char* name) {
  const auto* value = all.if_contains(name);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

bool add_conf(server_exposure& seen, std::string_view answer) {
  const auto plain = port_in(answer, "clientPort"), secure = port_in(answer, "secureClientPort");
  if (!plain) return false;
  seen.has_plain_port = *plain > 0;
  if (secure) seen.has_secure_port = *secure > 0;
  return true;
}

std::string add_properties(server_exposure& seen, std::string_view body) {
  std::string trouble;
  const auto object = admin_object(body, "system_properties", trouble);
  if (!object) return trouble;
  for (const auto& [name, value] : *object) {
    const std::string_view key(name.data(), name.size());
    const bool is_filled = value.is_string() && !value.as_string().empty();
    if (is_filled && names_secret(key) && seen.secrets.size() < most_secrets) seen.secrets.emplace_back(key);
  }
  std::sort(seen.secrets.begin(), seen.secrets.end());
  seen.skips_acls = text_of_property(*object, "zookeeper.skipACL") == "yes";
  if (text_of_property(*object, "zookeeper.4lw.commands.whitelist").find('*') != std::string::npos)
    seen.all_words = true;
  return {};
}

bool is_trace_mask(std::string_view answer) noexcept {
  return !answer.empty() && answer.size() < 20 &&
         std::all_of(answer.begin(), answer.end(), [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
}

bool is_forbidden_word(std::string_view answer) noexcept {
  return answer.find("is not executed because it is not in the whitelist") != answer.npos;
}

namespace {

namespace asio = boost::asio;

constexpr std::size_t longest_exposure_answer = 256 * 1024;

/// Empty: the word is told or closed.
std::string gap_of_word(const char* word, const word_answer& answer, bool is_told) {
  if (is_told || (answer.trouble.empty() && is_forbidden_word(answer.text))) return {};
  const auto why = answer.trouble.empty() ? "no answer, or one that zkadmin does not know" : answer.trouble;
  return "whether it answers " + std::string(word) + " is not known: " + why;
}

void add_gap(server_exposure& seen, std::string gap) {
  if (!gap.empty()) seen.gaps.push_back(std::move(gap));
}

asio::awaitable<void> ask_admin_server_about(endpoint where, deadline limit, server_exposure& seen) {
  const auto settings = co_await ask_admin_server(where, "/commands/configuration", longest_exposure_answer, limit);
  if (!add_admin_server(seen, where.name, settings)) co_return;
  const auto told = co_await ask_admin_server(where, "/commands/system_properties", longest_exposure_answer, limit);
  const auto why = told.trouble.empty() ? add_properties(seen, told.body) : told.trouble;
  if (!why.empty())
    seen.gaps.push_back("what properties the AdminServer at " + where.name + " shows is not known: " + why);
}

}  // namespace

void add_words(server_exposure& seen, const word_answer& conf, const word_answer& mask) {
  const bool has_settings = conf.trouble.empty() && add_conf(seen, conf.text);
  const bool has_mask = mask.trouble.empty() && is_trace_mask(mask.text);
  add_gap(seen, gap_of_word("conf", conf, has_settings));
  const auto gap = gap_of_word("gtmk", mask, has_mask);
  if (has_mask) {
    seen.all_words = true;
  } else if (has_settings && gap.empty()) {
    seen.all_words = false;
  }
  add_gap(seen, gap);
}

bool add_admin_server(server_exposure& seen, const std::string& where, const admin_answer& settings) {
  if (settings.is_refused) return false;
  auto why = settings.trouble;
  if (why.empty() && admin_object(settings.body, "configuration", why)) {
    seen.admin_server = where;
    seen.is_admin_local = settings.is_local;
    return true;
  }
  seen.gaps.push_back("whether an AdminServer answers at " + where + " is not known: " + why);
  return false;
}

asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port, tls_context_ptr tls,
                                                    deadline limit) {
  server_exposure seen{server.name};
  const auto conf = co_await ask_word_in_time(server, "conf", longest_exposure_answer, tls, limit);
  const auto mask = co_await ask_word_in_time(server, "gtmk", longest_exposure_answer, tls, limit);
  add_words(seen, conf, mask);
  if (admin_port != 0) co_await ask_admin_server_about(admin_endpoint(server, admin_port), limit, seen);
  co_return seen;
}

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
