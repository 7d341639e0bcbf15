#include "sessions/session_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/node_walk.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/recipe_survey.hpp"
#include "servers/admin_client.hpp"
#include "servers/prober.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::size_t most_servers_at_a_time = 64;

deadline half_of(deadline limit) {
  const auto now = steady_clock::now();
  return now + (limit - now) / 2;
}

void prefer(std::string& trouble, const std::string& found) {
  if (trouble.empty()) trouble = found;
}

/// No AdminServer tells the port for TLS, so the server at that port is asked which one it is.
asio::awaitable<server_identity> identify(endpoint server, tls_context_ptr tls, deadline limit) {
  if (!tls) co_return server_identity{{}, server.port};
  const auto conf = co_await ask_word_in_time(server, "conf", longest_session_answer, tls, limit);
  auto told = conf.trouble.empty() ? parse_conf(conf.text) : server_identity{conf.trouble};
  if (!told.trouble.empty()) told.trouble = "whether it is that of this server is not known: conf: " + told.trouble;
  co_return told;
}

/// Several servers of one machine can not all have the same port for their AdminServers. Empty: it is the right one.
asio::awaitable<std::string> doubts_about(endpoint where, endpoint server, tls_context_ptr tls, deadline limit) {
  const auto told = co_await ask_admin_server(where, "/commands/configuration", longest_session_answer, limit);
  if (!told.trouble.empty()) co_return told.trouble;
  const auto known = co_await identify(server, tls, limit);
  co_return known.trouble.empty() ? doubts_about_admin(told.body, known) : known.trouble;
}

/// The AdminServer's answers. Without an answer about the connections `asked.why` says why.
asio::awaitable<void> ask_admin(endpoint where, endpoint server, tls_context_ptr tls, deadline limit,
                                server_answers& told) {
  told.connections.trouble = co_await doubts_about(where, server, tls, limit);
  if (!told.connections.trouble.empty()) {
    told.asked.why = "AdminServer at " + where.name + ": " + told.connections.trouble;
    co_return;
  }
  const auto connections = co_await ask_admin_server(where, "/commands/connections", longest_session_answer, limit);
  if (connections.trouble.empty()) told.connections = parse_admin_connections(connections.body);
  prefer(told.connections.trouble, connections.trouble);
  if (!told.connections.is_answer) {
    told.asked.why = "AdminServer at " + where.name + ": " + told.connections.trouble;
    co_return;
  }
  told.asked.source = session_source::admin_server;
  const auto owners = co_await ask_admin_server(where, "/commands/dump", longest_session_answer, limit);
  if (owners.trouble.empty()) told.owners = parse_admin_dump(owners.body);
  prefer(told.owners.trouble, owners.trouble);
  told.owners_told_by = "admin_server of " + told.asked.server;
}

/// The answers to `cons` and `dump`.
asio::awaitable<void> ask_four_letters(endpoint server, tls_context_ptr tls, deadline limit, server_answers& told) {
  const auto cons = co_await ask_word_in_time(server, "cons", longest_session_answer, tls, limit);
  told.connections = {};
  if (cons.trouble.empty()) told.connections = parse_cons(cons.text);
  prefer(told.connections.trouble, cons.trouble);
  if (told.connections.is_answer) {
    told.asked.source = session_source::four_letter;
  } else {
    told.asked.why += (told.asked.why.empty() ? "cons: " : "; cons: ") + told.connections.trouble;
  }
  if (told.owners.is_answer) co_return;
  const auto dump = co_await ask_word_in_time(server, "dump", longest_session_answer, tls, limit);
  told.owners = {};
  if (dump.trouble.empty()) told.owners = parse_dump(dump.text);
  prefer(told.owners.trouble, dump.trouble);
  told.owners_told_by = "dump of " + told.asked.server;
}

/// A time of the last answer becomes how long it is before the last of all.
void make_relative(std::vector<session_status>& sessions) {
  std::optional<std::chrono::milliseconds> latest;
  for (const auto& each : sessions) latest = std::max(latest, each.idle);
  for (auto& each : sessions)
    if (each.idle) each.idle = *latest - *each.idle;
}

using sessions_by_id = std::map<std::int64_t, session_status>;

/// A session that two servers tell of has moved meanwhile: the later connection counts.
void add_connected(sessions_by_id& all, server_answers& one) {
  make_relative(one.connections.sessions);
  for (auto& each : one.connections.sessions) {
    each.server = one.asked.server;
    const auto known = all.find(each.id);
    if (known != all.end() && known->second.established > each.established) continue;
    all[each.id] = std::move(each);
  }
}

void record_gap(session_survey& all, const std::string& place, std::string text) {
  all.complete = false;
  all.notes.push_back({place, std::move(text)});
}

void describe_server(session_survey& all, const server_answers& one) {
  auto asked = one.asked;
  if (one.connections.is_answer && one.connections.trouble.empty()) asked.sessions = one.connections.sessions.size();
  if (!one.connections.is_answer) {
    record_gap(all, asked.server, "its sessions are known only by their nodes: " + asked.why);
  } else if (!one.connections.trouble.empty()) {
    record_gap(all, asked.server, "there may be more sessions: " + one.connections.trouble);
  }
  all.servers.push_back(std::move(asked));
}

/// The path as seen below the root of the hosts; nothing: it is elsewhere.
std::optional<std::string> below(const std::string& path, const std::string& chroot) {
  if (chroot.empty()) return path;
  if (!path.starts_with(chroot + "/")) return std::nullopt;
  return path.substr(chroot.size());
}

void add_nodes_of(sessions_by_id& all, const told_owners& owners, const std::string& chroot) {
  for (const auto& [id, timeout] : owners.sessions) {
    auto& session = all[id];
    session.id = id;
    if (!session.timeout) session.timeout = timeout;
  }
  for (const auto& [id, paths] : owners.nodes) {
    auto& session = all[id];
    session.id = id;
    session.nodes.emplace();
    session.outside = 0;
    for (const auto& each : paths) {
      if (auto path = below(each, chroot)) {
        session.nodes->push_back({std::move(*path)});
      } else {
        ++session.outside;
      }
    }
    std::sort(session.nodes->begin(), session.nodes->end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
  }
}

/// Whole answers about nodes are all the same, so one of them counts. Else as much as there is.
void add_told_nodes(session_survey& survey, sessions_by_id& all, const std::vector<server_answers>& answers,
                    const std::string& chroot) {
  const auto is_whole = [](const auto& each) { return each.owners.is_answer && each.owners.trouble.empty(); };
  const auto is_answer = [](const auto& each) { return each.owners.is_answer; };
  auto chosen = std::find_if(answers.begin(), answers.end(), is_whole);
  const bool is_known = chosen != answers.end();
  if (!is_known) chosen = std::find_if(answers.begin(), answers.end(), is_answer);
  if (chosen == answers.end()) return;
  survey.nodes_told_by = chosen->owners_told_by;
  for (const auto& each : answers)  // Only the leader tells of sessions without nodes.
    if (each.owners.is_answer && &each != &*chosen) add_nodes_of(all, {true, {}, each.owners.sessions, {}}, chroot);
  add_nodes_of(all, chosen->owners, chroot);
  if (!is_known)
    record_gap(survey, chosen->asked.server, "there may be more ephemeral nodes: " + chosen->owners.trouble);
  for (auto& [id, session] : all)
    if (is_known && !session.nodes) session.nodes.emplace();
}

}  // namespace

const char* to_string(session_source source) noexcept {
  switch (source) {
    case session_source::admin_server: return "admin_server";
    case session_source::four_letter: return "four_letter";
    case session_source::tree: return "tree";
  }
  return "tree";
}

asio::awaitable<server_answers> ask_about_sessions(endpoint server, std::uint16_t admin_port, tls_context_ptr tls,
                                                   deadline limit) {
  server_answers told{{server.name}};
  if (admin_port != 0) co_await ask_admin(admin_endpoint(server, admin_port), server, tls, half_of(limit), told);
  if (!told.connections.is_answer || !told.owners.is_answer) {
    auto rest = std::exchange(told.connections, {});
    const auto source = told.asked.source;
    co_await ask_four_letters(server, std::move(tls), limit, told);
    if (rest.is_answer) {  // what the AdminServer has told of the connections stays
      told.connections = std::move(rest);
      told.asked.source = source;
    }
  }
  co_return told;
}

session_survey sessions_of(std::vector<server_answers> answers, const std::string& chroot) {
  session_survey survey;
  sessions_by_id all;
  for (auto& each : answers) {
    describe_server(survey, each);
    add_connected(all, each);
  }
  add_told_nodes(survey, all, answers, chroot);
  for (auto& [id, session] : all) survey.found.push_back(std::move(session));
  std::sort(survey.found.begin(), survey.found.end(), [](const auto& a, const auto& b) {
    return static_cast<std::uint64_t>(a.id) < static_cast<std::uint64_t>(b.id);
  });
  return survey;
}

void add_owners(session_survey& all, const node_listing& seen) {
  all.nodes_told_by = "tree";
  all.notes.insert(all.notes.end(), seen.notes.begin(), seen.notes.end());
  all.complete = all.complete && seen.complete;
  all.refused = all.refused || seen.refused;
  std::map<std::uint64_t, session_status> by_id;
  for (auto& each : all.found) by_id[static_cast<std::uint64_t>(each.id)] = std::move(each);
  for (const auto& each : seen.nodes) {
    const auto owner = each.stat ? session_of(*each.stat) : 0;
    if (owner == 0) continue;
    auto& session = by_id[static_cast<std::uint64_t>(owner)];
    session.id = owner;
    if (!session.nodes) session.nodes.emplace();
    session.nodes->push_back({each.path});
  }
  all.found.clear();
  for (auto& [id, session] : by_id) {
    if (seen.complete && !session.nodes) session.nodes.emplace();
    all.found.push_back(std::move(session));
  }
}

asio::awaitable<session_survey> survey_sessions(zkrecipes::session session, settings wanted, deadline limit) {
  std::vector<server_answers> answers(wanted.servers.size());
  const auto asking_limit = half_of(limit);
  const auto tls = secure_connections(wanted);
  const auto ask_one = [&](std::size_t i) -> asio::awaitable<void> {
    answers[i] = co_await ask_about_sessions(wanted.servers[i], wanted.admin_port, tls, asking_limit);
  };
  co_await for_each_index(answers.size(), most_servers_at_a_time, ask_one);
  auto all = sessions_of(std::move(answers), chroot_of(wanted));
  if (!all.nodes_told_by.empty()) co_return all;
  node_walk walk(std::move(session), wanted.root,
                 walk_limits{walk_limits{}.depth, walk_limits{}.nodes, half_of(limit)});
  try {
    co_await walk.run();
  } catch (const failure& error) {
    record_gap(all, wanted.root, std::string("there may be more ephemeral nodes: ") + error.what());
  }
  add_owners(all, walk.listing());
  co_return all;
}

namespace {

using known_sites = std::vector<recipe_site>;

/// Finds the recipes of nodes one after the other, and reads each folder and each recipe only once.
class role_finder {
 public:
  role_finder(zkrecipes::session session, std::vector<declared_recipe> declared, deadline limit)
      : session_(std::move(session)), declared_(std::move(declared)), limit_(limit) {}

  /// A recipe whose kind is certain is preferred. Throws `failure`.
  asio::awaitable<void> look_at(owned_node& node, std::int64_t owner) {
    const auto folder = parent_of(node.path);
    const std::vector<std::string> places{node.path, folder, parent_of(folder)};
    for (const auto& place : places) {
      const auto sites = co_await sites_around(place, node.path);
      for (const auto& site : sites) {
        const auto recipe = co_await recipe_at(site);
        const auto role = role_of(recipe, owner, name_of(node.path));
        if (role.empty() || (recipe.kinds.size() > 1 && !node.role.empty())) continue;
        node = {node.path, kind_text(recipe), recipe.path, role};
        if (recipe.kinds.size() == 1) co_return;
      }
    }
  }

 private:
  /// What the node at `place` tells of, by itself, by the one that belongs to the session, and by the limit of a
  /// balance. The node of the session counts only if it is declared.
  asio::awaitable<known_sites> sites_around(std::string place, std::string node) {
    known_sites sites;
    for (const auto& each : declared_)
      if (each.path == place) sites.push_back({each.kind, place, true});
    if (!sites.empty() || place == node) co_return sites;
    const auto known = sites_.find(place);
    if (known != sites_.end()) co_return known->second;
    search_options how{.is_known_root = true, .levels = 1};
    how.skips = [node](const std::string& child) { return child != node && name_of(child) != "limit"; };
    tree_search search(session_, place, std::move(how));
    co_await search.run(limit_);
    for (const auto which : all_recipes())
      for (const auto& path : search.found(which)) sites.push_back({which, path, false});
    sites_[place] = sites;
    co_return sites;
  }

  asio::awaitable<recipe_status> recipe_at(recipe_site site) {
    const auto key = std::pair(site.which, site.path);
    const auto known = recipes_.find(key);
    if (known != recipes_.end()) co_return known->second;
    const recipe_reading how{many_participants, site.is_declared};
    auto seen = co_await read_recipe(session_, site.which, site.path, how);
    if (seen.error) seen.status = {site.path, {site.which}};  // it has gone
    recipes_[key] = seen.status;
    co_return seen.status;
  }

  zkrecipes::session session_;
  std::vector<declared_recipe> declared_;
  deadline limit_;
  std::map<std::string, known_sites> sites_;
  std::map<std::pair<recipe, std::string>, recipe_status> recipes_;
};

}  // namespace

std::string role_of(const recipe_status& recipe, std::int64_t session, const std::string& node) {
  const auto& all = recipe.participants;
  const auto is_it = [&](const auto& each) { return each.node == node && each.session.value_or(session) == session; };
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  if (found != all.end()) return found->role;
  // A persistent node is its own recipe, with nobody in it.
  const bool is_node_itself = name_of(recipe.path) == node && recipe.session == session;
  return is_node_itself ? "owner" : "";
}

asio::awaitable<void> add_roles(zkrecipes::session session, std::vector<declared_recipe> declared, deadline limit,
                                session_status& one, session_survey& all) {
  role_finder finder(std::move(session), std::move(declared), limit);
  std::size_t looked_at = 0;
  if (!one.nodes) co_return;
  for (auto& each : *one.nodes) {
    if (looked_at == most_nodes_with_roles || std::chrono::steady_clock::now() >= limit) break;
    ++looked_at;
    try {
      co_await finder.look_at(each, one.id);
    } catch (const failure& error) {
      all.complete = false;
      all.notes.push_back({each.path, std::string("its recipe is not known: ") + error.what()});
    }
  }
  const auto left = one.nodes->size() - looked_at;
  if (left == 0) co_return;
  all.complete = false;
  all.notes.push_back({"/", "the recipes of " + std::to_string(left) + " more nodes were not looked for"});
}

}  // namespace zkadmin
