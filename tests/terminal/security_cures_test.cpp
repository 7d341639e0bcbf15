// `check --security`: a cure is a command that does what it says and nothing else, or words.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cluster/acl_text.hpp"
#include "security/access_rules.hpp"

using namespace zkadmin;
using zkrecipes::acl;
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
