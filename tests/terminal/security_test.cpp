// `check --security`: the rules, from access rights and answers of servers as data.
#include <fstream>
#include <set>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "cluster/acl_text.hpp"
#include "report/check_report.hpp"
#include "security/access_rules.hpp"
#include "security/security_verdict.hpp"

using namespace zkadmin;
using zkrecipes::acl;

namespace {

constexpr auto all = zkrecipes::perm_all;
const acl open_to_all{{all, "world", "anyone"}};
const acl of_ops{{all, "digest", "ops:c2VjcmV0"}};
const acl of_billing{{all, "digest", "billing:aGFzaA=="}};
const acl read_by_all{{all, "digest", "ops:c2VjcmV0"}, {zkrecipes::perm_read, "world", "anyone"}};

recipe_rights rights_at(recipe which, const acl& own, const std::vector<acl>& nodes = {}) {
  recipe_rights seen{which, "/app/it", own};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    seen.nodes.push_back({"/app/it/_c_x-lock-000000000" + std::to_string(i), nodes[i]});
  return seen;
}

/// "critical open-path, warning mixed-acls"
std::string names_of(const problem_list& found) {
  std::string text;
  for (const auto& each : found)
    text += (text.empty() ? "" : ", ") + std::string(to_string(each.how_bad)) + " " + each.name;
  return text;
}

struct rights_row {
  const char* what;
  recipe_rights seen;
  const char* problems;
};

const rights_row rights_table[] = {
    {"as the library creates it by default", rights_at(recipe::lock, open_to_all, {open_to_all}), "critical open-path"},
    {"for one group", rights_at(recipe::lock, of_ops, {of_ops, of_ops}), ""},
    {"nodes of a client without an ACL of its own", rights_at(recipe::topic, of_ops, {of_ops, open_to_all}),
     "critical open-nodes"},
    {"everybody may look", rights_at(recipe::election, read_by_all, {read_by_all}), "warning open-to-read"},
    {"everybody may read the members only", rights_at(recipe::service, of_ops, {read_by_all}), "warning open-to-read"},
    {"two groups in one line", rights_at(recipe::lock, of_ops, {of_ops, of_billing}), "warning mixed-acls"},
    {"two groups of members", rights_at(recipe::membership, of_ops, {of_ops, of_billing}), ""},
    {"a range of all addresses is everybody", rights_at(recipe::lock, {{all, "ip", "0.0.0.0/0"}}),
     "critical open-path"},
    {"many addresses", rights_at(recipe::lock, {{all, "ip", "10.0.0.0/8"}}), "warning broad-addresses"},
    {"many addresses that may look", rights_at(recipe::lock, {{all, "digest", "a:b"}, {1, "ip", "10.0.0.0/8"}}), ""},
    {"some addresses", rights_at(recipe::lock, {{all, "ip", "10.1.2.0/24"}}), ""},
    {"one address", rights_at(recipe::lock, {{all, "ip", "10.1.2.3"}}), ""},
    {"a line without a way out",
     rights_at(recipe::lock, {{zkrecipes::perm_create | zkrecipes::perm_read, "digest", "a:b"}, of_ops[0]}),
     "critical no-way-out"},
    {"producers may only put",
     rights_at(recipe::queue, {{zkrecipes::perm_create | zkrecipes::perm_read, "digest", "a:b"}, of_ops[0]}), ""},
    {"rights in two entries",
     rights_at(recipe::lock,
               {{zkrecipes::perm_create, "digest", "a:b"}, {zkrecipes::perm_delete, "digest", "a:b"}, of_ops[0]}),
     ""},
    {"nobody may change it", rights_at(recipe::lock, {{all & ~zkrecipes::perm_admin, "digest", "a:b"}}),
     "warning fixed-acl"},
    {"an address may get in, and its network may get out",
     rights_at(recipe::lock,
               {{zkrecipes::perm_create, "ip", "10.0.0.5"}, {zkrecipes::perm_delete, "ip", "10.0.0.0/8"}, of_ops[0]}),
     "warning broad-addresses"},
    {"another network may get out",
     rights_at(recipe::lock,
               {{zkrecipes::perm_create, "ip", "10.0.1.5"}, {zkrecipes::perm_delete, "ip", "10.0.0.0/24"}, of_ops[0]}),
     "critical no-way-out"},
    {"a node that is no recipe is judged as a parent", rights_at(recipe::none, open_to_all), ""},
    {"a node below one that is no recipe", rights_at(recipe::none, of_ops, {open_to_all}), "warning open-nodes"},
    {"it could not be read", {recipe::lock, "/app/it"}, ""},
};

struct settings_row {
  const char* what;
  server_exposure seen;
  bool has_tls;
  const char* problems;
};

server_exposure server_with(void (*change)(server_exposure&)) {
  server_exposure seen{"a:2181"};
  change(seen);
  return seen;
}

const settings_row settings_table[] = {
    {"it tells nothing", server_with([](auto&) {}), false, ""},
    {"the AdminServer", server_with([](auto& s) { s.admin_server = "a:8080"; }), false, "warning admin-server-open"},
    {"secrets", server_with([](auto& s) {
       s.admin_server = "a:8080";
       s.secrets = {"zookeeper.ssl.keyStore.password"};
     }),
     true, "critical admin-server-tells-secrets, warning admin-server-open"},
    {"no ACLs", server_with([](auto& s) { s.skips_acls = true; }), false, "critical acls-skipped"},
    {"all words", server_with([](auto& s) { s.all_words = true; }), false, "warning all-words-allowed"},
    {"plain only", server_with([](auto& s) {
       s.has_plain_port = true;
       s.has_secure_port = false;
     }),
     false, "warning no-secure-port"},
    {"both ports", server_with([](auto& s) { s.has_plain_port = s.has_secure_port = true; }), true,
     "warning plain-port-open"},
    {"secure only", server_with([](auto& s) {
       s.has_plain_port = false;
       s.has_secure_port = true;
     }),
     true, ""},
};

problem_list all_problems() {
  problem_list found;
  const auto add = [&found](const problem_list& more) { found.insert(found.end(), more.begin(), more.end()); };
  for (const auto& each : rights_table) add(problems_of(each.seen));
  for (const auto& each : settings_table) add(problems_of(each.seen, each.has_tls));
  const access_survey seen{{rights_at(recipe::lock, of_ops)}, {{"/app", open_to_all}}, {}};
  add(problems_of_parents(seen));
  add(problems_of_connection(seen, false));
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(security_rules)

BOOST_AUTO_TEST_CASE(rights_at_recipes) {
  for (const auto& each : rights_table) BOOST_TEST(names_of(problems_of(each.seen)) == each.problems, each.what);
}

BOOST_AUTO_TEST_CASE(settings_of_servers) {
  for (const auto& each : settings_table)
    BOOST_TEST(names_of(problems_of(each.seen, each.has_tls)) == each.problems, each.what);
}

BOOST_AUTO_TEST_CASE(parents_are_judged_once_for_all_recipes) {
  access_survey seen;
  for (const char* path : {"/app/a", "/app/b"}) seen.recipes.push_back({recipe::lock, path, of_ops});
  seen.parents = {{"/", open_to_all}, {"/app", open_to_all}, {"/safe", of_ops}};
  const auto found = problems_of_parents(seen);
  BOOST_TEST(names_of(found) == "warning open-parent, warning open-parent");
  BOOST_TEST(found.at(1).text.find("this parent of 2 recipes") != std::string::npos, found.at(1).text);
  BOOST_TEST(found.at(1).cure == "setAcl /app auth::cdrwa,world:anyone:r");
  seen.recipes.push_back({recipe::barrier, "/app/gate", of_ops});
  BOOST_TEST(names_of(problems_of_parents(seen)) == "warning open-parent, critical open-parent");
  seen.recipes.push_back({recipe::lock, "/app", open_to_all});
  BOOST_TEST(names_of(problems_of_parents(seen)) == "warning open-parent", "the recipe's own problem tells it");
  seen.recipes.back().which = recipe::none;
  BOOST_TEST(names_of(problems_of_parents(seen)) == "warning open-parent, critical open-parent");
  seen.recipes.push_back({recipe::none, "/data", open_to_all});
  const auto named = problems_of_parents(seen).back();
  BOOST_TEST(named.where == "/data");
  BOOST_TEST(named.cure == "setAcl /data auth::cdrwa,world:anyone:r");
}

BOOST_AUTO_TEST_CASE(digests_and_addresses_need_a_secure_connection) {
  access_survey seen;
  seen.recipes = {rights_at(recipe::lock, of_ops), rights_at(recipe::queue, {{all, "x509", "CN=a"}})};
  BOOST_TEST(names_of(problems_of_connection(seen, false)) == "warning plain-connection");
  BOOST_TEST(problems_of_connection(seen, false).at(0).text.find("guard 1 recipe,") != std::string::npos);
  BOOST_TEST(problems_of_connection(seen, true).empty());
  seen.recipes.erase(seen.recipes.begin());
  BOOST_TEST(problems_of_connection(seen, false).empty());
}

BOOST_AUTO_TEST_CASE(each_problem_has_a_cure_and_a_section) {
  std::set<std::string> named, described;
  for (const auto& each : all_problems()) {
    named.insert(each.name);
    BOOST_TEST(!each.cure.empty(), each.name);
  }
  std::ifstream page(ZKADMIN_PAGE);
  const std::string begin = "#### `";
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(begin)) described.insert(line.substr(begin.size(), line.rfind('`') - begin.size()));
  BOOST_TEST(named == described, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_kind_says_what_its_rights_are_worth) {
  const auto generic = meaning_of(recipe::none, zkrecipes::perm_read, true);
  for (const auto which : all_recipes()) {
    BOOST_TEST(meaning_of(which, all, true).find("lock out its owners") != std::string::npos, to_string(which));
    const auto reading = meaning_of(which, zkrecipes::perm_read, true);
    BOOST_TEST((reading.starts_with("read ") && (reading != generic || which == recipe::persistent_node)),
               to_string(which));
  }
}

// The members of a line have no children.
BOOST_AUTO_TEST_CASE(rights_below_a_path_are_worth_less) {
  BOOST_TEST(meaning_of(recipe::lock, all, false) == "ask the holders to give up, lock out its owners by another ACL");
  BOOST_TEST(meaning_of(recipe::topic, zkrecipes::perm_create, false) == "put messages");
  BOOST_TEST(meaning_of(recipe::persistent_node, zkrecipes::perm_create, true) == "create and delete nodes below it");
}

// Passwords can be guessed from the hash.
BOOST_AUTO_TEST_CASE(no_hash_is_shown) {
  BOOST_TEST(to_text(read_by_all) == "digest:ops:cdrwa,world:anyone:r");
  BOOST_TEST(holder_of({all, "x509", "CN=a:b"}) == "x509:CN=a:b");
  for (const auto& each : all_problems())
    for (const char* hash : {"c2VjcmV0", "aGFzaA=="})
      BOOST_TEST((each.text + each.cure).find(hash) == std::string::npos, each.text);
}

BOOST_AUTO_TEST_CASE(masks_of_addresses) {
  BOOST_TEST(compared_bits("10.0.0.1") == 32);
  BOOST_TEST(compared_bits("10.0.0.0/8") == 8);
  BOOST_TEST(compared_bits("::/0") == 0);
  BOOST_TEST(compared_bits("fe80::1") == 128);
  BOOST_TEST(compared_bits("10.0.0.0/x") == 0);
  BOOST_TEST(is_broad({all, "ip", "fe80::/32"}));
  BOOST_TEST(!is_broad({all, "ip", "fe80::/64"}));
}

BOOST_AUTO_TEST_CASE(the_answer_to_conf) {
  server_exposure seen{"a:2181"};
  BOOST_TEST(!add_conf(seen, "conf is not executed because it is not in the whitelist."));
  BOOST_TEST(!reports_settings(seen));
  BOOST_TEST(add_conf(seen, "clientPort=2181\nsecureClientPort=-1\ndataDir=/x\n"));
  BOOST_TEST((seen.has_plain_port == true && seen.has_secure_port == false));
  BOOST_TEST(add_conf(seen, "clientPort=-1\nsecureClientPort=2281"));
  BOOST_TEST((seen.has_plain_port == false && seen.has_secure_port == true));
  BOOST_TEST(!add_conf(seen, "clientPort=70000\n"));
  BOOST_TEST(reports_settings(seen));
}

BOOST_AUTO_TEST_CASE(the_properties_of_a_server) {
  server_exposure seen{"a:2181"};
  const auto why = add_properties(
      seen, R"({"command":"system_properties","error":null,"zookeeper.ssl.keyStore.password":"verysecret",)"
            R"("zookeeper.ssl.keyStore.passwordPath":"/p","zookeeper.x.password":"",)"
            R"("zookeeper.DigestAuthenticationProvider.superDigest":"super:abc","zookeeper.skipACL":"yes",)"
            R"("zookeeper.4lw.commands.whitelist":"*"})");
  BOOST_TEST(why == "");
  const std::vector<std::string> secrets{"zookeeper.DigestAuthenticationProvider.superDigest",
                                         "zookeeper.ssl.keyStore.password"};
  BOOST_TEST(seen.secrets == secrets, boost::test_tools::per_element());
  BOOST_TEST((seen.skips_acls == true && seen.all_words == true));
  const auto told = problems_of(seen, false);
  for (const auto& each : told) BOOST_TEST((each.text + each.cure).find("verysecret") == std::string::npos);
  server_exposure other{"a:2181"};
  for (const char* text : {"", "[]", R"({"command":"dump"})", R"({"command":"system_properties","error":"closed"})"})
    BOOST_TEST(!add_properties(other, text).empty(), text);
  BOOST_TEST((other == server_exposure{"a:2181"}));
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_unknown_and_a_closed_server_is_not) {
  security_findings seen;
  seen.trouble = "no session";
  seen.servers.resize(2);
  seen.servers[0].server = "a:2181";
  seen.servers[0].reachable = true;
  seen.servers[1].server = "b:2181";
  seen.servers[1].error = "Connection refused";
  seen.exposures = {server_exposure{"a:2181"}, server_exposure{"b:2181"}};
  auto judged = judge_security(seen, {});
  BOOST_TEST(to_lines(judged) ==
             "ZKADMIN UNKNOWN - 2 things not known\n"
             "unknown access rights: not known: no session\n"
             "unknown b:2181: Connection refused\n"
             "note a:2181: tells nobody its settings, so they were not looked at\n");
  seen.rights.emplace();
  seen.rights->recipes = {rights_at(recipe::lock, {{all, "x509", "CN=a"}}, {{{all, "x509", "CN=a"}}})};
  seen.servers.pop_back();
  seen.exposures.pop_back();
  judged = judge_security(seen, {});
  BOOST_TEST(to_lines(judged) ==
             "ZKADMIN OK - 1 recipe, 2 nodes, 1 server\n"
             "note a:2181: tells nobody its settings, so they were not looked at\n");
  const auto document = boost::json::parse(to_json(judged));
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(document.at("notes").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(cures_are_printed_in_every_format) {
  security_findings seen;
  seen.rights.emplace();
  seen.rights->recipes = {rights_at(recipe::lock, open_to_all)};
  const auto judged = judge_security(seen, {});
  BOOST_TEST(to_lines(judged).find(". Cure: setAcl -R /app/it auth::cdrwa\n") != std::string::npos);
  const auto first = boost::json::parse(to_json(judged)).at("problems").as_array().at(0);
  BOOST_TEST(first.at("cure") == "setAcl -R /app/it auth::cdrwa");
  BOOST_TEST(to_tsv(judged).find("\tsetAcl -R /app/it auth::cdrwa\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
