// The recipes in print, how they are declared, and how they are recognised.
#include "report/recipe_report.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/recognize.hpp"
#include "samples.hpp"
#include "settings/command_line.hpp"
#include "settings/values.hpp"

using namespace zkadmin;
namespace json = boost::json;

namespace {

recipe_survey two_recipes() {
  recipe_survey all{samples::sick().recipes->found};
  auto& lock = all.found[0];
  lock.kinds = {recipe::lock, recipe::election};
  lock.state = "held";
  lock.holder = "copied";
  lock.waiting = 0;
  return all;
}

std::string refusal_of(const std::string& recipes) try {
  parse_recipes(recipes);
  return "not refused";
} catch (const std::invalid_argument& error) {
  return error.what();
}

/// The settings with this configuration file, or what is said about it.
std::string declared_in(const std::string& text) {
  std::string name = (std::filesystem::temp_directory_path() / "zkadmin-recipes-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  ::close(file);
  std::ofstream(name) << "hosts = \"a\"\n" << text;
  std::string said;
  try {
    const char* const arguments[] = {"--config", name.c_str()};
    const auto asked = parse_command_line(arguments, std::cout);
    const auto wanted = load_settings(*asked, [](const std::string&) { return std::optional<std::string>(); });
    for (const auto& each : wanted.recipes)
      said += (said.empty() ? "" : " ") + identifier_of(each.kind) + "=" + each.path;
  } catch (const failure& error) {
    said = std::string(error.what()).substr(name.size());
  }
  std::filesystem::remove(name);
  return said;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recipe_reports)

BOOST_AUTO_TEST_CASE(a_row_for_each_recipe) {
  const auto text = to_table(two_recipes());
  BOOST_TEST(text.starts_with("KIND "), text);
  BOOST_TEST(text.find("lock or election  /lock ") != std::string::npos, text);
  BOOST_TEST(text.find("3 permits are taken of 2") != std::string::npos, text);
  BOOST_TEST(to_table(recipe_survey{}) == "No recipes.\n");
  BOOST_TEST(to_table(known_recipes()) == "Recipes: not known.\n");
  auto cut = two_recipes();
  cut.complete = false;
  BOOST_TEST(to_table(cut).ends_with("There may be more recipes than these.\n"));
}

BOOST_AUTO_TEST_CASE(all_that_is_known_of_one) {
  auto one = two_recipes();
  one.found.resize(1);
  one.found[0].not_read = 7;
  const auto text = to_details(one);
  BOOST_TEST(text.starts_with("/lock: lock or election, held\n"), text);
  BOOST_TEST(text.find("problem: without a session: copied") != std::string::npos, text);
  BOOST_TEST(text.find("nothing tells which of these it is") != std::string::npos, text);
  BOOST_TEST(text.find("holder  copied") != std::string::npos, text);
  BOOST_TEST(text.ends_with("and 7 more, which were not read\n"), text);
}

BOOST_AUTO_TEST_CASE(json_of_recipes) {
  const auto document = json::parse(to_json(two_recipes()));
  BOOST_TEST(document.at("schema").as_int64() == 1);
  const auto& lock = document.at("recipes").at(0);
  BOOST_TEST(lock.at("kind").is_null(), "nothing tells it");
  BOOST_TEST(json::serialize(lock.at("kinds")) == R"(["lock","election"])");
  BOOST_TEST(lock.at("waiting").as_int64() == 0);
  BOOST_TEST(lock.at("age_ms").is_null());
  BOOST_TEST(lock.at("participants").at(0).at("orphan").as_bool());
  BOOST_TEST(lock.at("participants").at(0).at("session").is_null());
  BOOST_TEST(lock.at("problems").at(0).at("name") == "orphan-member");
  BOOST_TEST(lock.at("foreign_nodes").at("count").as_int64() == 1);
  const auto& semaphore = document.at("recipes").at(1);
  BOOST_TEST(semaphore.at("kind") == "semaphore");
  BOOST_TEST(semaphore.at("facts").at("resized_ms").as_int64() == 360'000);
  BOOST_TEST(semaphore.at("waiting").is_null());
  BOOST_TEST(to_json(known_recipes()) == R"({"schema":1,"complete":false,"recipes":null,"notes":[]})"
                                         "\n");
}

BOOST_AUTO_TEST_CASE(tsv_of_recipes) {
  const auto text = to_tsv(two_recipes());
  BOOST_TEST(text.starts_with("recipes\tcomplete\t2\nrecipe\t/lock\tlock,election\t\treadable\theld\tcopied\t\t0\t"),
             text);
  BOOST_TEST(text.find("fact\t/permits\tresized\t360000\n") != std::string::npos, text);
  BOOST_TEST(
      text.find("participant\t/lock\tholder\tcopied\t_c_x-lock-0000000001\t0\t\t\t\t\tyes\tyes\n") != std::string::npos,
      text);
  BOOST_TEST(to_tsv(known_recipes()) == "recipes\tunknown\t\n");
}

BOOST_AUTO_TEST_CASE(odd_bytes_harm_no_terminal) {
  auto all = two_recipes();
  all.found[0].path = "/a\x1b[2J\xff\xe2\x80\xae";
  all.found[0].participants[0].detail = "b\x07\n";
  for (const auto& text : {to_table(all), to_details(all)})
    for (const unsigned char c : text) BOOST_TEST((c == '\n' || (c >= 0x20 && c != 0x7f)));
  BOOST_TEST(to_table(all).find("\xe2\x80\xae") == std::string::npos);
  BOOST_CHECK_NO_THROW(json::parse(to_json(all)));
}

BOOST_AUTO_TEST_CASE(recipes_are_declared_in_the_file) {
  BOOST_TEST(
      declared_in("[[recipes]]\nkind = \"semaphore\"\npath = \"/db/a,b\"\n[[recipes]]\nkind = \"read-write lock\"\n"
                  "path = \"/x/\"\n") == "semaphore=/db/a,b read_write_lock=/x");
  BOOST_TEST(declared_in("recipes = []\n") == "");
  BOOST_TEST(declared_in("[[recipes]]\nkind = \"mutex\"\npath = \"/x\"\n")
                 .starts_with(":2: recipes: expected a kind of recipe: election, shard_group, topic, "));
  BOOST_TEST(declared_in("[[recipes]]\nkind = \"lock\"\n") == ":2: recipes: path is missing");
  BOOST_TEST(declared_in("[[recipes]]\nkind = \"lock\"\npath = \"x\"\n")
                 .starts_with(":2: recipes: expected an absolute path"));
  BOOST_TEST(declared_in("[[recipes]]\nkind = 1\npath = \"/x\"\n") ==
             ":3: recipes: kind: expected a string, found: integer");
  BOOST_TEST(declared_in("[[recipes]]\nkind = \"lock\"\npath = \"/x\"\nname = \"y\"\n") ==
             ":5: recipes: unknown key name (known: kind, path)");
  BOOST_TEST(declared_in("recipes = \"lock:/x\"\n") ==
             ":2: recipes: expected tables [[recipes]] with kind and path, found: string");
}

BOOST_AUTO_TEST_CASE(recipes_are_declared_in_the_environment) {
  BOOST_TEST(
      (parse_recipes("lock:/a,queue:/b") == std::vector<declared_recipe>{{recipe::lock, "/a"}, {recipe::queue, "/b"}}));
  BOOST_TEST(refusal_of("/a").starts_with("expected KIND:PATH"));
  BOOST_TEST(refusal_of("lock:a").starts_with("expected an absolute path"));
  BOOST_TEST(refusal_of("x:/a").starts_with("expected a kind of recipe: election, "));
}

BOOST_AUTO_TEST_CASE(the_names_of_kinds) {
  for (const auto each : all_recipes()) {
    BOOST_TEST((recipe_named(to_string(each)) == each));
    BOOST_TEST((recipe_named(identifier_of(each)) == each));
  }
  BOOST_TEST(!recipe_named("none"));
}

BOOST_AUTO_TEST_CASE(recipes_by_the_names_of_their_children) {
  const auto tells = [](std::vector<std::string> names, recipe which) {
    return recipe_among(names) == which &&
           recipe_among({"plain", names.front(), "0000000001"}) == recipe_among({names.front()});
  };
  BOOST_TEST(tells({"_c_x-lock-0000000001"}, recipe::lock));
  BOOST_TEST(tells({"x__lock__0000000001"}, recipe::lock));
  BOOST_TEST(tells({"x__rlock__0000000001", "x__lock__0000000002", "y__lock__0000000003"}, recipe::read_write_lock));
  BOOST_TEST(tells({"_c_x-__WRIT__0000000001"}, recipe::read_write_lock));
  BOOST_TEST(tells({"_c_x-1-permit-0000000001"}, recipe::semaphore));
  BOOST_TEST(tells({"_c_x-3-member-0000000001"}, recipe::double_barrier));
  BOOST_TEST(tells({"_c_x-member-0000000001"}, recipe::none), "of a shard group");
  for (const char* item :
       {"qn-0000000001", "entry-100-0000000001", "at-0000000000017325-0000000001", "queue-0000000001", "_idle",
        "_claim-qn-0000000001", "_producer-cli", "_gate", "_dead", "_parked"})
    BOOST_TEST(tells({item}, recipe::queue), item);
  BOOST_TEST(tells({"x__party__"}, recipe::membership));
  BOOST_TEST(tells({"qn-0000000001", "qn-0000000002", "_c_x-lock-0000000001"}, recipe::queue), "those of most");
  for (const char* other : {"_producers", "_producer", "_claim", "dead"})
    BOOST_TEST(tells({other}, recipe::none), other);
  BOOST_TEST((recipe_among({}) == recipe::none));
}

BOOST_AUTO_TEST_CASE(recipes_of_more_than_one_node) {
  const auto path_of = [](recipe which, const char* path, std::vector<std::string> children) {
    const auto place = place_of(which, path, children);
    return std::string(to_string(place.which)) + " " + place.path;
  };
  BOOST_TEST(path_of(recipe::queue, "/q-side", {"_idle"}) == "queue /q");
  BOOST_TEST(path_of(recipe::queue, "/q-side", {"qn-0000000001"}) == "queue /q-side");
  BOOST_TEST(path_of(recipe::queue, "/q/taken", {"entry-100-0000000001"}) == "queue /q/entries");
  BOOST_TEST(path_of(recipe::none, "/s/leases", {"_c_x-lease-0000000001"}) == "semaphore /s");
  BOOST_TEST(path_of(recipe::none, "/s/leases", {}) == "none /s/leases");
  BOOST_TEST(path_of(recipe::lock, "/s-__lock__", {"x__lock__0000000001"}) == "semaphore /s");
}

BOOST_AUTO_TEST_CASE(several_nodes_may_tell_of_one_recipe) {
  auto paths = paths_of({{"/mail/1", {recipe::service, "/mail"}},
                         {"/mail/2", {recipe::service, "/mail"}},
                         {"/mail/x", {recipe::membership, "/mail"}},
                         {"/group/a", {recipe::membership, "/group"}},
                         {"/s/leases", {recipe::semaphore, "/s"}},
                         {"/s/locks", {recipe::lock, "/s/locks"}},
                         {"/own/locks", {recipe::lock, "/own/locks"}}});
  BOOST_TEST((paths[recipe::service] == std::vector<std::string>{"/mail"}));
  BOOST_TEST((paths[recipe::membership] == std::vector<std::string>{"/group"}), "/mail has instances");
  BOOST_TEST((paths[recipe::lock] == std::vector<std::string>{"/own/locks"}), "/s/locks is a part of a semaphore");
  BOOST_TEST((paths[recipe::semaphore] == std::vector<std::string>{"/s"}));
}

BOOST_AUTO_TEST_CASE(data_of_the_own_nodes_of_recipes) {
  BOOST_TEST((recipe_of(R"({"zkrecipes":"semaphore","size":3})") == recipe::semaphore));
  BOOST_TEST((recipe_of(R"({"recipe":"semaphore","size":3})") == recipe::semaphore));
  BOOST_TEST((recipe_of(R"({"zkrecipes":"barrier"})") == recipe::barrier));
  BOOST_TEST((recipe_of(R"({"zkrecipes":"double_barrier","round":1,"members":[]})") == recipe::double_barrier));
  BOOST_TEST(is_part_of(recipe::queue, "_dead"));
  BOOST_TEST(!is_part_of(recipe::queue, "_c_x-lock-0000000001"));
  BOOST_TEST(is_part_of(recipe::queue, "queue-0000000001"));
  BOOST_TEST(!is_part_of(recipe::queue, "inner"));
}

BOOST_AUTO_TEST_CASE(what_is_declared_replaces_what_was_found) {
  std::vector<recipe_site> sites{{recipe::membership, "/b", false}, {recipe::lock, "/c", false}};
  declare(sites, {{recipe::persistent_node, "/b"}, {recipe::barrier, "/a"}});
  std::string text;
  for (const auto& each : sites) text += each.path + " " + to_string(each.which) + (each.is_declared ? "! " : " ");
  BOOST_TEST(text == "/a barrier! /b persistent node! /c lock ");
  BOOST_TEST((may_be(recipe::lock, recipe::election) && may_be(recipe::membership, recipe::semaphore)));
  BOOST_TEST((may_be(recipe::queue, std::nullopt) && !may_be(recipe::lock, recipe::semaphore)));
}

BOOST_AUTO_TEST_SUITE_END()
