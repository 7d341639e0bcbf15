// The output of ls, get, stat and tree.
#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "change/node_change.hpp"
#include "cluster/level_walk.hpp"
#include "cluster/node_walk.hpp"
#include "report/formats.hpp"
#include "report/node_report.hpp"
#include "settings/command_line.hpp"

using namespace zkadmin;
namespace json = boost::json;

namespace {

zkrecipes::node_stat stat_with(std::int64_t owner) {
  zkrecipes::node_stat stat;
  stat.czxid = 0x100000001;
  stat.mzxid = 0x100000002;
  stat.pzxid = 0x100000003;
  stat.ctime = 1'700'000'000'123;
  stat.mtime = 1'700'000'001'000;
  stat.version = 4;
  stat.cversion = 5;
  stat.aversion = 6;
  stat.ephemeral_owner = owner;
  stat.data_length = 12;
  stat.num_children = 2;
  return stat;
}

node_listing sample_listing() {
  node_listing all;
  all.nodes = {{"/a", 0, stat_with(0), "shards"},
               {"/a/b", 1, stat_with(0x1000049e4070001), ""},
               {"/a/b/c d", 2, stat_with(0), ""},
               {"/a/\x1b[2J\xff", 1, stat_with(0), ""}};
  return all;
}

std::vector<const char*> words_of(std::initializer_list<const char*> words) { return words; }

}  // namespace

BOOST_AUTO_TEST_SUITE(nodes)

BOOST_AUTO_TEST_CASE(bytes_as_text) {
  BOOST_TEST(base64("") == "");
  BOOST_TEST(base64("f") == "Zg==");
  BOOST_TEST(base64("fo") == "Zm8=");
  BOOST_TEST(base64("foobar") == "Zm9vYmFy");
  BOOST_TEST(base64(std::string("\xff\0\xfe", 3)) == "/wD+");
  BOOST_TEST(hex_dump("") == "");
  BOOST_TEST(hex_dump(std::string("hello, world\n\0\xff!A", 17)) ==
             "00000000  68 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0a 00 ff 21  |hello, world...!|\n"
             "00000010  41                                                |A|\n");
  BOOST_TEST((is_utf8("é") && is_utf8(std::string(1, '\0')) && !is_utf8("\xc3") && !is_utf8("a\xff")));
  BOOST_TEST((is_showable("a\tb\r\nc") && !is_showable("a\x1b[2J") && !is_showable(std::string(1, '\0'))));
  BOOST_TEST(printable_lines("a\tb\r\nc\u202e\n") == "a\tb\nc\uFFFD\n");
  BOOST_TEST(utc_timestamp(1'700'000'000'123) == "2023-11-14T22:13:20.123Z");
}

BOOST_AUTO_TEST_CASE(kinds_of_nodes) {
  BOOST_TEST(kind_of(stat_with(0)) == std::string("persistent"));
  BOOST_TEST(owner_of(stat_with(0)) == "");
  BOOST_TEST(kind_of(stat_with(-1)) == std::string("ephemeral"));
  BOOST_TEST(owner_of(stat_with(-1)) == "0xffffffffffffffff");
}

BOOST_AUTO_TEST_CASE(a_tree_for_people) {
  BOOST_TEST(to_text(sample_listing(), node_format::table, listing_style::tree) ==
             "DATA  CHILDREN  KIND        OWNER              RECIPE  NAME\n"
             "  12         2  persistent  -                  shards  /a\n"
             "  12         2  ephemeral   0x1000049e4070001  -         b\n"
             "  12         2  persistent  -                  -           c d\n"
             "  12         2  persistent  -                  -         \uFFFD[2J\uFFFD\n");
  auto deep = sample_listing();
  deep.nodes[2].depth = 5000;
  deep.nodes[2].path = "/a/" + std::string(50'000, 'x');
  BOOST_TEST(to_text(deep, node_format::table, listing_style::tree).size() < 1000u);
  BOOST_TEST(to_text(sample_listing(), node_format::table, listing_style::names) == "a\nb\nc d\n\uFFFD[2J\uFFFD\n");
  BOOST_TEST(to_text(sample_listing(), node_format::table, listing_style::paths) ==
             "/a\n/a/b\n/a/b/c d\n/a/\uFFFD[2J\uFFFD\n");
}

BOOST_AUTO_TEST_CASE(listings_for_programs) {
  auto listing = sample_listing();
  listing.complete = false;
  listing.notes = {{"/a", "7 children were not looked at"}};
  const auto document = json::parse(to_text(listing, node_format::json, listing_style::tree));
  BOOST_TEST(document.at("schema") == 1);
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("notes").at(0).at("path") == "/a");
  BOOST_TEST(json::serialize(document.at("nodes").at(1)) ==
             R"({"path":"/a/b","recipe":null,"kind":"ephemeral","owner":"0x1000049e4070001",)"
             R"("data_length":12,"children":2,"version":4,"cversion":5,"aversion":6,"czxid":"0x100000001",)"
             R"("mzxid":"0x100000002","pzxid":"0x100000003","ctime_ms":1700000000123,"mtime_ms":1700000001000})");
  const auto& odd = document.at("nodes").at(3);
  BOOST_TEST(odd.at("path").as_string() == "/a/\x1b[2J\uFFFD");
  BOOST_TEST(odd.at("path_base64") == "L2EvG1sySv8=");

  const auto lines = to_text(listing, node_format::ndjson, listing_style::tree);
  BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 5);
  BOOST_TEST(lines.ends_with("{\"schema\":1,\"complete\":false,\"notes\":[{\"path\":\"/a\",\"text\":\"7 children were "
                             "not looked at\"}]}\n"),
             lines);
  const auto fields = to_text(listing, node_format::tsv, listing_style::tree);
  BOOST_TEST(fields.starts_with("nodes\tincomplete\t4\nnode\t/a\tpersistent\t\tshards\t12\t2\t4\t5\t6\t"), fields);
  BOOST_TEST(fields.ends_with("note\t/a\t7 children were not looked at\n"), fields);
  BOOST_TEST(fields.find("/a/\\x1b[2J\uFFFD\tpersistent\t\t\t12\t") != std::string::npos, fields);
}

BOOST_AUTO_TEST_CASE(names_alone) {
  node_listing names;
  names.nodes = {{"/a/b", 1}, {"/a/c", 1}};
  BOOST_TEST(to_text(names, node_format::ndjson, listing_style::names) ==
             "{\"path\":\"/a/b\"}\n{\"path\":\"/a/c\"}\n{\"schema\":1,\"complete\":true,\"notes\":[]}\n");
  BOOST_TEST(to_text(names, node_format::tsv, listing_style::names) == "nodes\tcomplete\t2\nnode\t/a/b\nnode\t/a/c\n");
}

BOOST_AUTO_TEST_CASE(data_for_programs) {
  const node_view node{"/a", 0, stat_with(0), ""};
  const auto text = json::parse(data_text(node, "é\n", node_format::json));
  BOOST_TEST((text.at("encoding") == "utf-8" && text.at("data") == "é\n" && text.at("version") == 4));
  const auto binary = json::parse(data_text(node, "\xff\x01", node_format::ndjson));
  BOOST_TEST((binary.at("encoding") == "base64" && binary.at("data") == "/wE="));
  BOOST_TEST(data_text(node, "a\tb\n", node_format::tsv) == "data\t/a\tutf-8\ta\\tb\\n\n");
}

BOOST_AUTO_TEST_CASE(stat_of_a_node) {
  const node_view node{"/a", 0, stat_with(0x1f), "term"};
  const auto text = stat_text(node, node_format::table);
  for (const char* line :
       {"path                 /a\n", "owner                0x1f\n", "recipe               term\n",
        "created              2023-11-14T22:13:20.123Z by 0x100000001\n", "version              4\n"})
    BOOST_TEST(text.find(line) != std::string::npos, text);
  BOOST_TEST(json::parse(stat_text(node, node_format::json)).at("owner") == "0x1f");
  BOOST_TEST(stat_text(node, node_format::tsv).starts_with("node\t/a\tephemeral\t0x1f\t"));
}

BOOST_AUTO_TEST_CASE(what_recipes_keep_is_not_for_hands) {
  BOOST_TEST(recipe_that_keeps("/a", "") == "");
  BOOST_TEST(recipe_that_keeps("/a", "term") == "it holds the data of a recipe (term)");
  for (const char* name : {"/q/qn-0000000001", "/e/_c_x-latch-0000000001", "/l/x__lock__0000000003"})
    BOOST_TEST(recipe_that_keeps(name, "") == "by its name it is a member or an item of a recipe", name);
  for (const char* name : {"/zookeeper", "/zookeeper/config"})
    BOOST_TEST(recipe_that_keeps(name, "") == "it belongs to ZooKeeper itself", name);
  BOOST_TEST(recipe_that_keeps("/zookeepers", "") == "");
}

BOOST_AUTO_TEST_CASE(children_are_deleted_before_their_parents) {
  const auto order = leaves_first(sample_listing().nodes);
  BOOST_TEST(order.front().path == "/a/b/c d");
  BOOST_TEST(order.back().path == "/a");
}

BOOST_AUTO_TEST_CASE(the_command_line_of_nodes) {
  const auto parse = [](std::initializer_list<const char*> words) {
    std::ostringstream out;
    return parse_command_line(words_of(words), out).value().node;
  };
  const auto refused = [&parse](std::initializer_list<const char*> words) {
    try {
      parse(words);
    } catch (const failure& error) {
      return error.code() == exit_code::usage;
    }
    return false;
  };
  BOOST_TEST(parse({"ls", "/a", "-lR"}).is_long);
  BOOST_TEST(parse({"ls", "/a", "-lR"}).recursive);
  BOOST_TEST((parse({"watch", "/a", "-o", "ndjson", "--count", "3"}).format == node_format::ndjson));
  BOOST_TEST((parse({"get", "/a", "--hex"}).form == data_form::hex));
  BOOST_TEST(parse({"set", "/a", "--version", "7"}).version.value() == 7);
  BOOST_TEST(!parse({"set", "/a"}).version.has_value());
  BOOST_TEST(parse({"set", "/a", "--data", ""}).data.value() == "");
  BOOST_TEST(parse({"tree", "/a", "--depth", "0"}).depth.value() == 0u);
  BOOST_TEST(refused({"ls"}));
  BOOST_TEST(refused({"get", "/a", "--hex", "--base64"}));
  BOOST_TEST(refused({"set", "/a", "--data", "x", "--file", "y"}));
  BOOST_TEST(refused({"set", "/a", "--version", "-1"}));
  BOOST_TEST(refused({"watch", "/a", "--count", "0"}));
  BOOST_TEST(refused({"ls", "/a", "-o", "yaml"}));
  BOOST_TEST(refused({"tree", "/a", "--depth", "-1"}));
}

BOOST_AUTO_TEST_SUITE_END()

// The order and the bounds of a walk.

namespace {

/// The level at which each node was visited, of a walk through one node with so many children.
std::map<std::string, std::size_t> levels_with(std::size_t children, std::size_t most) {
  level_walk walk("/", most);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < children; ++i) names.push_back(std::to_string(1'000 + i));
  std::map<std::string, std::size_t> levels;
  const auto visit = [&](const level_walk::place& at, std::size_t level) -> boost::asio::awaitable<void> {
    levels[at.path] = level;
    if (at.path == "/") walk.plan(at, names, level + 1);
    co_return;
  };
  boost::asio::io_context io;
  boost::asio::co_spawn(io, walk.run(visit), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  for (const auto& [path, count] : walk.left()) levels["left below " + path] = count;
  return levels;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(level_walks)

BOOST_AUTO_TEST_CASE(many_children_are_visited_with_several_levels) {
  auto levels = levels_with(501, 1'000);
  BOOST_TEST(levels.size() == 502u);
  BOOST_TEST(levels.at("/") == 0u);
  BOOST_TEST(levels.at("/1249") == 1u);
  BOOST_TEST(levels.at("/1250") == 2u);
  BOOST_TEST(levels.at("/1500") == 3u);
  levels = levels_with(501, 300);
  BOOST_TEST(levels.at("left below /") == 202u);
  BOOST_TEST(levels.contains("/1298"));
  BOOST_TEST(!levels.contains("/1299"));
}

// A node can have a hundred thousand children, and ten thousand nodes are visited.
BOOST_AUTO_TEST_CASE(a_bounded_number_of_nodes_is_planned) {
  level_walk walk("/", 3);
  walk.plan({"/a", 1}, std::vector<std::string>(level_walk::most_planned + 7, "x"), 2);
  walk.plan({"/b", 1}, {"y"}, 2);
  BOOST_TEST(walk.left().at("/a") == 7u);
  BOOST_TEST(walk.left().at("/b") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
