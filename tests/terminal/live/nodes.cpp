// ls, get, stat, tree, set and delete against real servers.
#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>

#include "base/text.hpp"
#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

struct node_fixture : admin_fixture {
  std::string at(const std::string& path) const { return root() + path; }

  void teardown() {
    if (contains("/n")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/n", tuple))));
    admin_fixture::teardown();
  }

  /// Creates many nodes, a hundred in each transaction.
  void create_many(const std::string& parent, int count) {
    for (int i = 0; i < count;) {
      transaction hundred;
      for (int k = 0; k < 100 && i < count; ++k, ++i) hundred.create(parent + "/" + std::to_string(1'000'000 + i));
      const auto made = run(zk().async_commit(hundred, tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
    }
  }

  json::value parsed(std::vector<std::string> arguments, int code = 0) {
    const auto result = zkadmin(std::move(arguments));
    BOOST_TEST(result.code == code, result.err);
    return json::parse(result.out);
  }

  /// What runs in a shell on a terminal that shows everything. The program is $ZKADMIN.
  void start(pseudo_terminal& terminal, const std::string& script) {
    terminal.start(
        {"/bin/sh", "-c", script},
        {{"ZKADMIN", ZKADMIN_PROGRAM}, {"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}, {"AT", root()}});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(nodes_suite, node_fixture)

BOOST_AUTO_TEST_CASE(children_by_name) {
  for (const char* path : {"/n", "/n/b", "/n/a b", "/n/b/c"}) create(path);
  BOOST_TEST(zkadmin({"ls", at("/n")}).out == "a b\nb\n");
  BOOST_TEST(zkadmin({"ls", at("/n"), "-R"}).out == at("/n/a b") + "\n" + at("/n/b") + "\n" + at("/n/b/c") + "\n");
  BOOST_TEST(zkadmin({"ls", at("/n/b/c")}).out == "");
  const auto lines = zkadmin({"ls", at("/n"), "-l"});
  BOOST_TEST(lines.code == 0, lines.err);
  BOOST_TEST(lines.out.find("persistent  -      -       a b\n") != std::string::npos, lines.out);
  BOOST_TEST(parsed({"ls", at("/n"), "-o", "json"}).at("nodes").at(1).at("path").as_string() == at("/n/b"));
}

BOOST_AUTO_TEST_CASE(a_tree_with_owners_kinds_and_recipes) {
  create("/n", R"({"zkrecipes":"topic","count":4,"hash":"crc32"})");
  create("/n/e", "1234", create_mode::ephemeral);
  create("/n/c", {}, create_mode::container);  // the server does not tell clients
  const auto owner = zkadmin::hexadecimal(static_cast<std::uint64_t>(get("/n/e").stat.ephemeral_owner));
  const auto tree = parsed({"tree", at("/n"), "-o", "json"});
  BOOST_TEST(tree.at("complete").as_bool());
  BOOST_TEST_REQUIRE(tree.at("nodes").as_array().size() == 3u);
  BOOST_TEST(tree.at("nodes").at(0).at("recipe") == "topic");
  BOOST_TEST(tree.at("nodes").at(1).at("kind") == "persistent");
  BOOST_TEST(tree.at("nodes").at(2).at("owner").as_string() == owner);
  BOOST_TEST(tree.at("nodes").at(2).at("data_length") == 4);
  BOOST_TEST(zkadmin({"tree", at("/n")}).out.find(owner + "  -         e\n") != std::string::npos);
  BOOST_TEST(parsed({"tree", at("/n"), "-o", "json", "--depth", "0"}).at("nodes").as_array().size() == 1u);
  const auto stat = parsed({"stat", at("/n/e"), "-o", "json"});
  BOOST_TEST(stat.at("owner").as_string() == owner);
  BOOST_TEST(zkadmin({"stat", at("/n/e")}).out.find("owner                " + owner + "\n") != std::string::npos);
  remove("/n/e");
}

BOOST_AUTO_TEST_CASE(more_nodes_than_are_listed) {
  create("/n");
  create("/n/many");
  create("/n/z");
  create_many("/n/many", 10'100);
  const auto names = zkadmin({"ls", at("/n/many"), "--timeout", "2m"});
  BOOST_TEST(names.code == 1);
  BOOST_TEST(std::count(names.out.begin(), names.out.end(), '\n') == 10'000);
  BOOST_TEST(names.err.find(at("/n/many") + ": 100 more children are not listed") != std::string::npos, names.err);
  const auto tree = parsed({"tree", at("/n"), "-o", "json", "--timeout", "2m"}, 1);
  BOOST_TEST(!tree.at("complete").as_bool());
  BOOST_TEST(tree.at("nodes").as_array().size() == 10'000u);
  BOOST_TEST(tree.at("nodes").as_array().back().at("path").as_string() == at("/n/z"), "it is not hidden by the many");
  BOOST_TEST(tree.at("notes").at(0).at("path").as_string() == at("/n/many"));
  const auto refused = zkadmin({"delete", at("/n"), "-R", "--rw", "--yes", at("/n"), "--timeout", "2m"});
  BOOST_TEST(refused.code == 1);
  BOOST_TEST(
      refused.err.find("not all nodes below " + at("/n") + " could be listed: nothing was sent") != std::string::npos,
      refused.err);
}

BOOST_AUTO_TEST_CASE(data_as_it_is) {
  const std::string binary("\xff\0\x1b[2J\n", 7);
  create("/n", binary);
  BOOST_TEST(zkadmin({"get", at("/n")}).out == binary);
  BOOST_TEST(zkadmin({"get", at("/n"), "--base64"}).out == "/wAbWzJKCg==\n");
  BOOST_TEST(zkadmin({"get", at("/n"), "--hex"}).out.starts_with("00000000  ff 00 1b 5b 32 4a 0a "));
  const auto document = parsed({"get", at("/n"), "-o", "json"});
  BOOST_TEST((document.at("encoding") == "base64" && document.at("data") == "/wAbWzJKCg=="));
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_only_what_it_can_show) {
  create("/n", "one\ntwo");
  create("/n/b", std::string("\xff\0", 2));
  pseudo_terminal terminal(io(), 200, 10);
  start(terminal, "$ZKADMIN get $AT/n; $ZKADMIN get $AT/n/b; echo status $?");
  BOOST_TEST(terminal.shows("one\ntwo\nzkadmin: "));
  BOOST_TEST(terminal.shows("2 bytes that a terminal can not show; add --hex or --base64"));
  BOOST_TEST(terminal.shows("status 1"));
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_exist) {
  for (const char* command : {"ls", "get", "stat", "tree", "delete", "set"}) {
    const auto result = zkadmin({command, at("/nothing")});
    BOOST_TEST(result.code == 4, command);
    BOOST_TEST(result.err == "zkadmin: there is no node " + at("/nothing") + "\n", result.err);
    BOOST_TEST(result.out == "");
  }
  BOOST_TEST(zkadmin({"ls", "-l", at("/nothing")}).code == 4);
  BOOST_TEST(zkadmin({"get", "relative"}).code == 2);
  BOOST_TEST(zkadmin({"get", "/x", "--hosts", "127.0.0.1:1", "--timeout", "300ms"}).code == 3);
}

BOOST_AUTO_TEST_CASE(nodes_that_may_not_be_read) {
  create("/n");
  create("/n/closed", "secret");
  auto set = run(zk().async_set_acl("/n/closed", {{perm_write | perm_delete | perm_admin}}, any_version, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(set));
  const auto get = zkadmin({"get", at("/n/closed")});
  BOOST_TEST(get.code == 5);
  const auto tree = parsed({"tree", at("/n"), "-o", "json"}, 5);
  BOOST_TEST(!tree.at("complete").as_bool());
  BOOST_TEST(tree.at("nodes").at(1).at("data_length") == 6);
  BOOST_TEST(tree.at("notes").at(0).at("path").as_string() == at("/n/closed"));
  const auto written = zkadmin({"set", at("/n/closed"), "--data", "x", "--rw"});
  BOOST_TEST(written.code == 5, "whether a recipe keeps it is not known");
  BOOST_TEST(zkadmin({"set", at("/n/closed"), "--data", "x", "--rw", "--force"}).code == 0);
}

BOOST_AUTO_TEST_CASE(data_is_written_only_over_the_version_that_was_read) {
  create("/n", "old");
  const auto shown = zkadmin({"set", at("/n"), "--data", "new"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "set " + at("/n") + " version=0 data=new\n");
  BOOST_TEST(get("/n").data == "old");
  const auto done = zkadmin({"set", at("/n"), "--data", "new", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "wrote 3 bytes to " + at("/n") + "\n");
  BOOST_TEST(get("/n").data == "new");
  BOOST_TEST(fails(zkadmin({"set", at("/n"), "--data", "late", "--version", "0", "--rw"}), 1,
                   "has another version by now: nothing was written"));
  BOOST_TEST(get("/n").data == "new");
}

BOOST_AUTO_TEST_CASE(data_from_a_file_and_from_standard_input) {
  create("/n", "old");
  const auto empty = zkadmin({"set", at("/n"), "--rw"});  // standard input is empty
  BOOST_TEST(empty.code == 0, empty.err);
  BOOST_TEST(get("/n").data == "");
  const std::string binary("\xff\0\n", 3);
  const auto file = fs::temp_directory_path() / ("zkadmin-set-" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << binary;
  BOOST_TEST(zkadmin({"set", at("/n"), "--rw", "--file", file.string()}).code == 0);
  BOOST_TEST((get("/n").data == binary));
  fs::remove(file);
  BOOST_TEST(zkadmin({"set", at("/n"), "--rw", "--file", file.string()}).code == 2);
  BOOST_TEST(zkadmin({"set", at("/n"), "--rw", "--file", fs::temp_directory_path().string()}).code != 0);
  BOOST_TEST((get("/n").data == binary));
  pseudo_terminal terminal(io(), 200, 10);
  start(terminal, "printf 'by pipe' | $ZKADMIN set $AT/n --rw");
  BOOST_TEST(terminal.exit_code() == 0);
  BOOST_TEST(get("/n").data == "by pipe");
  pseudo_terminal unreadable(io(), 200, 10);
  start(unreadable, "$ZKADMIN set $AT/n --rw < /");
  BOOST_TEST(unreadable.shows("standard input could not be read: nothing was sent"));
  BOOST_TEST(unreadable.exit_code() == 1);
  BOOST_TEST(get("/n").data == "by pipe");
}

BOOST_AUTO_TEST_CASE(what_a_recipe_keeps_takes_force) {
  create("/n", R"({"zkrecipes":"topic","count":4,"hash":"crc32"})");
  create("/n/0001");
  create("/n/other");
  create("/n/other/qn-0000000001");
  const auto by_data = zkadmin({"set", at("/n"), "--data", "x", "--rw"});
  BOOST_TEST(by_data.code == 1);
  BOOST_TEST(by_data.err == "zkadmin: " + at("/n") +
                                ": it holds the data of a recipe (topic): nothing was sent; "
                                "--force does it all the same\n",
             by_data.err);
  const auto by_place = zkadmin({"delete", at("/n/0001"), "--rw"});
  BOOST_TEST(by_place.err.find("it is a part of the topic at " + at("/n")) != std::string::npos, by_place.err);
  BOOST_TEST(fails(zkadmin({"delete", at("/n/other"), "-R", "--rw", "--yes", at("/n/other")}), 1,
                   "qn-0000000001: by its name it is a member or an item"));
  BOOST_TEST(contains("/n/other/qn-0000000001"));
  BOOST_TEST(zkadmin({"delete", at("/n/0001"), "--rw", "--force"}).code == 0);
  BOOST_TEST(!exists("/n/0001"));
}

BOOST_AUTO_TEST_CASE(one_node_is_deleted) {
  create("/n");
  create("/n/a", "x");
  const auto shown = zkadmin({"delete", at("/n/a")});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "delete " + at("/n/a") + " version=0\n");
  BOOST_TEST(fails(zkadmin({"delete", at("/n"), "--rw"}), 1, "has children, 1 of them: nothing was sent"));
  BOOST_TEST(zkadmin({"delete", at("/n/a"), "--rw", "--version", "3"}).code == 1);
  BOOST_TEST(exists("/n/a"));
  BOOST_TEST(zkadmin({"delete", at("/n/a"), "--rw"}).code == 0);
  BOOST_TEST(!exists("/n/a"));
}

BOOST_AUTO_TEST_CASE(many_nodes_are_deleted_once_the_path_is_confirmed) {
  create("/n");
  for (const char* path : {"/n/d", "/n/d/a", "/n/d/b", "/n/d/b/c"}) create(path, "xy");
  const auto shown = zkadmin({"delete", at("/n/d"), "-R"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "delete " + at("/n/d/b/c") + " version=0\ndelete " + at("/n/d/a") + " version=0\ndelete " +
                              at("/n/d/b") + " version=0\ndelete " + at("/n/d") +
                              " version=0\n4 nodes with 8 bytes of data\n");
  BOOST_TEST(fails(zkadmin({"delete", at("/n/d"), "-R", "--rw"}), 1, "confirm with --yes " + at("/n/d")));
  BOOST_TEST(zkadmin({"delete", at("/n/d"), "-R", "--rw", "--yes", at("/n")}).code == 2);
  BOOST_TEST(exists("/n/d/b/c"));
  const auto done = zkadmin({"delete", at("/n/d"), "-R", "--rw", "--yes", at("/n/d")});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "deleted 4 of 4 nodes at and below " + at("/n/d") + "\n");
  BOOST_TEST(!exists("/n/d"));
}

BOOST_AUTO_TEST_CASE(the_path_is_typed_on_a_terminal) {
  create("/n");
  create("/n/d");
  create("/n/d/a");
  pseudo_terminal wrong(io(), 200, 10), right(io(), 200, 10);
  start(wrong, "$ZKADMIN delete $AT/n/d -R --rw");
  BOOST_TEST(wrong.shows("Type the path to delete 2 nodes:"));
  wrong.type("yes\r");
  BOOST_TEST(wrong.shows("that is not the path: nothing was sent"));
  BOOST_TEST(wrong.exit_code() == 1);
  BOOST_TEST(exists("/n/d/a"));
  start(right, "$ZKADMIN delete $AT/n/d -R --rw");
  BOOST_TEST(right.shows("Type the path to delete 2 nodes:"));
  right.type(at("/n/d") + "\r");
  BOOST_TEST(right.shows("deleted 2 of 2 nodes"));
  BOOST_TEST(right.exit_code() == 0);
  BOOST_TEST(!exists("/n/d"));
}

BOOST_AUTO_TEST_CASE(what_came_meanwhile_is_not_deleted) {
  create("/n");
  create("/n/d");
  create("/n/d/a");
  pseudo_terminal terminal(io(), 200, 10);
  start(terminal, "$ZKADMIN delete $AT/n/d -R --rw");
  BOOST_TEST(terminal.shows("Type the path to delete 2 nodes:"));
  create("/n/d/new");
  terminal.type(at("/n/d") + "\r");
  BOOST_TEST(terminal.shows("deleted 1 of 2 nodes at and below " + at("/n/d")));
  BOOST_TEST(terminal.shows(at("/n/d") + " has been changed meanwhile"));
  BOOST_TEST(terminal.exit_code() == 1);
  BOOST_TEST(exists("/n/d/new"));
}

BOOST_AUTO_TEST_CASE(a_node_that_was_made_anew_is_not_deleted) {
  create("/n");
  create("/n/d");
  create("/n/d/a");
  pseudo_terminal terminal(io(), 200, 10);
  start(terminal, "$ZKADMIN delete $AT/n/d -R --rw");
  BOOST_TEST(terminal.shows("Type the path to delete 2 nodes:"));
  remove("/n/d/a");
  create("/n/d/a", "of another one");
  terminal.type(at("/n/d") + "\r");
  BOOST_TEST(terminal.shows("deleted 0 of 2 nodes at and below " + at("/n/d")));
  BOOST_TEST(terminal.shows(at("/n/d/a") + " has been changed meanwhile"));
  BOOST_TEST(terminal.exit_code() == 1);
  BOOST_TEST(get("/n/d/a").data == "of another one");
}

BOOST_AUTO_TEST_SUITE_END()
