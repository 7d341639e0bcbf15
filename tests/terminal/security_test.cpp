// `check --security`: the rules, from access rights and answers of servers as data.
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
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

// `check --security`: a cure is a command that does what it says and nothing else, or words.

using zkrecipes::acl_entry;

namespace {

constexpr auto every_right = zkrecipes::perm_all;
const acl_entry everybody{every_right, "world", "anyone"}, readers{zkrecipes::perm_read, "world", "anyone"};
const acl_entry ops{every_right, "digest", "ops:c2VjcmV0"}, billing{every_right, "x509", "CN=billing"};
const acl_entry spaced{every_right, "x509", "CN=a b"}, forged{1, "sasl", "x,world:anyone:cdrwa"};
const acl_entry network{every_right, "ip", "10.0.0.0/8"}, putter{zkrecipes::perm_create, "x509", "CN=put"};

/// The words of a line as zkCli.sh takes them.
std::vector<std::string> words_of(const std::string& line) {
  static const std::regex word(R"(\s*([^"']\S*|"[^"]*"|'[^']*')\s*)");
  std::vector<std::string> words;
  for (std::sregex_iterator each(line.begin(), line.end(), word), end; each != end; ++each) {
    auto text = (*each)[1].str();
    if (text.front() == '"' || text.front() == '\'') text = text.substr(1, text.size() - 2);
    words.push_back(std::move(text));
  }
  return words;
}

std::string entry_text(const acl_entry& each) {
  return each.scheme + ":" + each.id + ":" + letters_of(each.permissions);
}

/// An entry of somebody else that the command at this place would remove; empty: there is none.
std::string removed_from(const acl& present, const std::string& command) {
  const auto access = "," + words_of(command).back() + ",";
  for (const auto& each : present)
    if (!is_everybody(each) && access.find("," + entry_text(each) + ",") == access.npos) return entry_text(each);
  return {};
}

std::string removed_by(const std::string& cure, const recipe_rights& seen) {
  if (!cure.starts_with("setAcl ")) return {};
  auto removed = seen.own ? removed_from(*seen.own, cure) : std::string("what is not known");
  if (cure.starts_with("setAcl -R"))
    for (const auto& each : seen.nodes) removed += removed_from(each.rights, cure);
  return removed;
}

const acl many_acls[] = {{everybody},        {ops},
                         {billing},          {ops, readers},
                         {billing, readers}, {everybody, billing},
                         {billing, ops},     {spaced, everybody},
                         {forged, readers},  {network, ops},
                         {putter, billing},  {putter, readers}};

std::string cure_at(const acl& own, const std::vector<acl>& nodes = {}) {
  recipe_rights seen{recipe::lock, "/it", own};
  for (std::size_t i = 0; i < nodes.size(); ++i) seen.nodes.push_back({"/it/" + std::to_string(i), nodes[i]});
  return cure_of_recipe(seen);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(security_rules)

BOOST_AUTO_TEST_CASE(a_path_in_a_command_is_one_word_or_there_is_no_command) {
  BOOST_TEST(set_acl_command("/a", true).value() == "setAcl -R /a auth::cdrwa");
  BOOST_TEST(set_acl_command("/a b", false).value() == "setAcl \"/a b\" auth::cdrwa");
  BOOST_TEST(set_acl_command("/a\"b", false).value() == "setAcl /a\"b auth::cdrwa");
  BOOST_TEST(set_acl_command("/a\"b c", false).value() == "setAcl '/a\"b c' auth::cdrwa");
  for (const char* path : {"/a", "/a b", "/a'b", "/a\"b", "/a' b", "/\" b", "/a'b\"c", "/-R", "/caf\u00e9"}) {
    const auto words = words_of(set_acl_command(path, false).value());
    BOOST_TEST((words == std::vector<std::string>{"setAcl", path, "auth::cdrwa"}), path);
  }
  for (const char* path : {"/orders' world:anyone:cdrwa \"", "/a\" b'", "/a\nb", "/a\tb", "/a|b", "/a!!", "/a\u202eb",
                           "/a\xff", "/a\u00a0\u200b"})
    BOOST_TEST(!set_acl_command(path, true), path);
  const auto named = cure_of_node({"/orders' world:anyone:cdrwa \"", {everybody}});
  BOOST_TEST(named.starts_with("zkCli.sh can not name this path: use another client"), named);
}

BOOST_AUTO_TEST_CASE(no_cure_takes_rights_from_others) {
  for (const auto which : {recipe::lock, recipe::queue, recipe::topic, recipe::none})
    for (const auto& own : many_acls)
      for (const auto& one : many_acls)
        for (const auto& other : many_acls) {
          const recipe_rights seen{which, "/it", own, {{"/it/_c_a", one}, {"/it/_c_b", other}}};
          for (const auto& each : problems_of(seen))
            BOOST_TEST(removed_by(each.cure, seen) == "", std::string(each.name) + ": " + each.cure);
          for (const auto& each : problems_of_parents({{seen}, {{"/it", own}}, {}}))
            BOOST_TEST(removed_by(each.cure, seen) == "", std::string(each.name) + ": " + each.cure);
        }
}

BOOST_AUTO_TEST_CASE(a_command_keeps_what_it_can_name) {
  BOOST_TEST(cure_at({everybody, billing}) == "setAcl -R /it auth::cdrwa,x509:CN=billing:cdrwa");
  BOOST_TEST(cure_at({billing}, {{everybody}}) == "setAcl -R /it auth::cdrwa,x509:CN=billing:cdrwa");
  BOOST_TEST(cure_at({everybody, ops}).find("keep: digest:ops:cdrwa") != std::string::npos);
  for (const auto& each : {cure_at({everybody, ops}), cure_at({everybody, forged}), cure_at({everybody, spaced}),
                           cure_at({billing}, {{putter, everybody}})})
    BOOST_TEST(each.starts_with("getAcl, then"), each);
}

BOOST_AUTO_TEST_CASE(everybody_keeps_reading_a_parent_only_if_it_does_now) {
  BOOST_TEST(cure_of_node({"/a", {everybody}}) == "setAcl /a auth::cdrwa,world:anyone:r");
  BOOST_TEST(cure_of_node({"/a", {{zkrecipes::perm_create, "world", "anyone"}}}) == "setAcl /a auth::cdrwa");
  BOOST_TEST(cure_of_node({"/a", {everybody, billing}}) ==
             "setAcl /a auth::cdrwa,x509:CN=billing:cdrwa,world:anyone:r");
}

// Its other nodes stand beside its path, where -R does not come.
BOOST_AUTO_TEST_CASE(a_cure_of_a_priority_queue_names_its_side) {
  recipe_rights seen{recipe::queue, "/q", acl{everybody}, {{"/q-side", {everybody}}}};
  BOOST_TEST(cure_of_recipe(seen) == "setAcl -R /q auth::cdrwa; setAcl -R /q-side auth::cdrwa");
  seen.nodes.clear();
  BOOST_TEST(cure_of_recipe(seen) == "setAcl -R /q auth::cdrwa");
}

BOOST_AUTO_TEST_CASE(a_node_that_is_no_recipe_is_never_set_with_all_below_it) {
  for (const auto& own : many_acls)
    for (const auto& below : many_acls) {
      const recipe_rights seen{recipe::none, "/", own, {{"/x", below}}};
      for (const auto& each : problems_of(seen)) BOOST_TEST(each.cure.find("-R") == std::string::npos, each.cure);
      for (const auto& each : problems_of_parents({{seen}, {}, {}}))
        BOOST_TEST(each.cure.find("-R") == std::string::npos, each.cure);
    }
}

BOOST_AUTO_TEST_CASE(whom_an_entry_holds_for) {
  const auto ip = [](const char* id) { return acl_entry{1, "ip", id}; };
  BOOST_TEST(holds_for(ip("10.0.0.0/8"), ip("10.0.0.5")));
  BOOST_TEST(!holds_for(ip("10.0.0.5"), ip("10.0.0.0/8")));
  BOOST_TEST(!holds_for(ip("10.0.0.0/9"), ip("10.128.0.5")));
  BOOST_TEST(holds_for(ip("fe80::/16"), ip("fe80::1")));
  BOOST_TEST(!holds_for(ip("fe80::/16"), ip("10.0.0.5")));
  BOOST_TEST(!holds_for(ip("x/8"), ip("10.0.0.5")));
  BOOST_TEST(holds_for(everybody, ops));
  BOOST_TEST(!holds_for(ops, everybody));
  BOOST_TEST(!holds_for(ops, billing));
}

BOOST_AUTO_TEST_SUITE_END()

// `check --security`: what servers answer, and what it means that they do not.

namespace {

const word_answer forbidden{"", "conf is not executed because it is not in the whitelist.\n"};
const word_answer settings_told{"", "clientPort=-1\nsecureClientPort=2281\n"}, mask{"", "306\n"};
const word_answer lost_answers[] = {
    {"no answer in time"}, {"Connection reset by peer"}, {"its answer is too long"}, {"Connection refused"}, {"", ""},
    {"", "Something else"}};

server_exposure told_by(const word_answer& conf, const word_answer& gtmk) {
  server_exposure seen{"a:2181"};
  add_words(seen, conf, gtmk);
  return seen;
}

admin_answer admin_body(std::string body) { return {{}, std::move(body)}; }

const admin_answer configuration = admin_body(R"({"command":"configuration","error":null,"client_port":-1})");

security_findings findings_of(std::vector<server_exposure> exposures) {
  security_findings seen;
  for (const auto& each : exposures) {
    seen.servers.emplace_back().server = each.server;
    seen.servers.back().reachable = true;
  }
  seen.exposures = std::move(exposures);
  return seen;
}

wanted_kinds only_servers() {
  wanted_kinds kinds{};
  kinds.elections = kinds.groups = kinds.topics = kinds.commits = kinds.recipes = false;
  kinds.servers = true;
  return kinds;
}

verdict verdict_on(std::vector<server_exposure> exposures) {
  return judge_security(findings_of(std::move(exposures)), only_servers());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(security_rules)

BOOST_AUTO_TEST_CASE(only_a_server_that_says_so_has_closed_a_word) {
  BOOST_TEST((told_by(forbidden, forbidden) == server_exposure{"a:2181"}));
  BOOST_TEST((told_by(settings_told, forbidden).all_words == false));
  BOOST_TEST((told_by(settings_told, mask).all_words == true));
  BOOST_TEST((told_by(forbidden, mask).all_words == true));
  for (const auto& each : lost_answers) {
    const auto seen = told_by(settings_told, each);
    BOOST_TEST(!seen.all_words.has_value(), each.trouble);
    BOOST_TEST(seen.gaps.size() == 1u, each.trouble);
    BOOST_TEST(told_by(each, forbidden).gaps.size() == 1u, each.trouble);
    BOOST_TEST((state_of(verdict_on({told_by(each, forbidden)})) == check_state::unknown), each.trouble);
  }
  BOOST_TEST((state_of(verdict_on({told_by(forbidden, forbidden)})) == check_state::ok));
}

// Its port may be -1, or not known: over TLS, or where `conf` is not allowed.
BOOST_AUTO_TEST_CASE(whose_admin_server_it_is_does_not_matter) {
  for (const char* port : {"-1", "2181", "9999"}) {
    server_exposure seen{"a:2181"};
    const auto body = std::string(R"({"command":"configuration","error":null,"client_port":)") + port + "}";
    BOOST_TEST(add_admin_server(seen, "a:8080", admin_body(body)));
    BOOST_TEST(seen.admin_server == "a:8080");
    BOOST_TEST(problems_of(seen, true).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(an_admin_server_is_closed_if_nothing_listens) {
  server_exposure closed{"a:2181"};
  admin_answer refused{"Connection refused"};
  refused.is_refused = true;
  BOOST_TEST(!add_admin_server(closed, "a:8080", refused));
  BOOST_TEST((closed == server_exposure{"a:2181"}));
  for (const auto& each : {admin_answer{"no answer in time"}, admin_answer{"it answers with the status 403"},
                           admin_body("<html>"), admin_body(R"({"command":"dump"})"), admin_body("")}) {
    server_exposure seen{"a:2181"};
    BOOST_TEST(!add_admin_server(seen, "a:8080", each));
    BOOST_TEST((state_of(verdict_on({seen})) == check_state::unknown), each.trouble + each.body);
  }
}

// A port of this machine at which nothing listens.
BOOST_AUTO_TEST_CASE(a_refused_connection_is_told_apart) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken(io, {boost::asio::ip::address_v4::loopback(), 0});
  const auto port = taken.local_endpoint().port();
  taken.close();
  admin_answer got;
  boost::asio::co_spawn(io,
                        ask_admin_server({"127.0.0.1", port, "here"}, "/", 100,
                                         std::chrono::steady_clock::now() + std::chrono::seconds(20)),
                        [&got](std::exception_ptr error, admin_answer answer) {
                          if (!error) got = std::move(answer);
                        });
  io.run();
  BOOST_TEST(got.is_refused, got.trouble);
}

BOOST_AUTO_TEST_CASE(an_admin_server_at_a_loopback_address_is_a_remark) {
  server_exposure seen{"a:2181"};
  auto local = configuration;
  local.is_local = true;
  BOOST_TEST(add_admin_server(seen, "127.0.0.1:8080", local));
  BOOST_TEST(to_lines(verdict_on({seen})) ==
             "ZKADMIN OK - 1 server\n"
             "note a:2181: the AdminServer at 127.0.0.1:8080 answers this machine; whether it answers others is not "
             "known\n");
  seen.secrets = {"zookeeper.ssl.keyStore.password"};
  BOOST_TEST((state_of(verdict_on({seen})) == check_state::warning));
}

BOOST_AUTO_TEST_CASE(one_admin_server_beside_several_servers_is_told_once) {
  server_exposure one{"a:2181"}, other{"a:2182"};
  one.admin_server = other.admin_server = "a:8080";
  const auto judged = verdict_on({one, other});
  BOOST_TEST(judged.problems.size() == 1u);
  BOOST_TEST(judged.remarks.empty());
}

BOOST_AUTO_TEST_CASE(why_there_is_no_connection_is_told_without_recipes_too) {
  security_findings seen;
  seen.trouble = "ca.pem: No such file";
  BOOST_TEST(to_lines(judge_security(seen, only_servers())) ==
             "ZKADMIN UNKNOWN - 1 thing not known\nunknown servers: ca.pem: No such file\n");
}

BOOST_AUTO_TEST_SUITE_END()
