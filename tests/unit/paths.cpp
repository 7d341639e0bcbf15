// Paths and host lists: what is refused, and that the message says what and why.
#include "session/paths.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "format/shown_text.hpp"
#include "session/server_list.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes::detail;
using zkrecipes::backend::endpoint;
using zkrecipes::test::refusal;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(paths)

BOOST_DATA_TEST_CASE(good_paths_have_no_problem,
                     data::make({"/", "/a", "/a/b", "/a.b", "/...", "/a/.b", "/a b", "/\xc3\xa4", "/\xe7\x95\x8c",
                                 "/\xef\xbf\xaf"}),
                     path) {
  BOOST_TEST(path_problem(path) == "");
}

const std::pair<std::string, std::string> bad_paths[] = {
    {"", "begin with '/'"},   {"a", "begin with '/'"}, {"/a/", "end with '/'"}, {"//", "end with '/'"},
    {"//a", "'//'"},          {"/a//b", "'//'"},       {"/.", "'.' or '..'"},   {"/a/./b", "'.' or '..'"},
    {"/a/..", "'.' or '..'"}, {"/a\nb", "control"},    {"/a\x7f", "control"},   {std::string("/a\0b", 4), "control"},
};

BOOST_AUTO_TEST_CASE(bad_paths_are_told_apart) {
  for (const auto& [path, part] : bad_paths) {
    BOOST_TEST_CONTEXT(path) { BOOST_TEST(path_problem(path).find(part) != std::string::npos, path_problem(path)); }
  }
}

// What the servers' PathUtils refuses: Java reads what is no UTF-8 as U+FFFD, and what is above U+FFFF as surrogates.
const std::string refused_by_servers[] = {
    "\xc2\x80",          // U+0080
    "\xc2\x9f",          // U+009F
    "\xee\x80\x80",      // U+E000
    "\xef\xa3\xbf",      // U+F8FF
    "\xef\xbf\xb0",      // U+FFF0
    "\xef\xbf\xbf",      // U+FFFF
    "\xf0\x9f\x98\x80",  // U+1F600
    "\xed\xa0\x80",      // a surrogate
    "\xff",
    "\xc3",          // cut off
    "\xe7\x95",      // cut off
    "\xc3(",         // another byte than the next of the character
    "\xc1\x81",      // longer than the character needs
    "\xe0\x82\xa0",  // the same
    "\x80",          // begins in the middle
};

BOOST_AUTO_TEST_CASE(what_servers_refuse_in_paths_is_no_part_of_one) {
  for (const auto& each : refused_by_servers) {
    BOOST_TEST(path_problem("/a" + each + "b").find("UTF-8") != std::string::npos, each);
    BOOST_TEST(name_problem(each).find("UTF-8") != std::string::npos, each);
    const auto named = "the name \"" + shown_text(each) + "\": it must be UTF-8";
    BOOST_TEST(refusal([&] { require_name("the name", each); }).starts_with(named), each);
    BOOST_TEST(refusal([&] { require_part_of_name("the name", each); }).starts_with(named), each);
  }
  for (const auto* good : {"a", "\xc2\xa0", "\xed\x9f\xbf", "\xef\xa4\x80", "\xef\xbf\xaf", "a\xc3\xa4z"})
    BOOST_TEST(name_problem(good) == "", good);
}

BOOST_AUTO_TEST_CASE(a_name_is_one_part_of_a_path) {
  for (const std::string each : {"", "a/b", ".", "..", "a\nb"}) {
    BOOST_TEST(name_problem(each) != "", each);
    const auto told = refusal([&] { require_name("the name", each); });
    BOOST_TEST(told.starts_with("the name \""), told);
    BOOST_TEST(told.find('\n') == told.npos, told);
  }
  BOOST_TEST(name_problem(std::string(256, 'x')) == "");
  BOOST_TEST(name_problem(std::string(257, 'x')) != "");
  BOOST_TEST(refusal([] { require_part_of_name("name", ".."); }) == "");
}

BOOST_AUTO_TEST_CASE(a_refused_path_is_named_with_its_argument_and_the_problem) {
  const auto message = refusal([] { require_path("election path", "/a//b"); });
  BOOST_TEST(message == "election path \"/a//b\": a path must not contain '//'");
  BOOST_TEST(refusal([] { require_path("election path", "/a/b"); }) == "");
}

BOOST_AUTO_TEST_CASE(an_id_has_1_to_256_bytes_without_control_characters) {
  BOOST_TEST(refusal([] { require_id("id", "x"); }) == "");
  BOOST_TEST(refusal([] { require_id("id", std::string(256, 'x')); }) == "");
  BOOST_TEST(refusal([] { require_id("the id", ""); }) == "the id \"\": it must have 1 to 256 bytes");
  BOOST_TEST(refusal([] { require_id("id", std::string(257, 'x')); }).find("1 to 256") != std::string::npos);
  for (const auto* bad : {"a\xc2\x80",
                          "\xc2\x9f"
                          "b",
                          "\xc3\xa4\xc2\x85"})
    BOOST_TEST(refusal([&] { require_id("id", bad); }).ends_with("it must not contain control characters"), bad);
  for (const auto* good : {"\xc2\xa0", "\xc3\x85", "\xc2", "\xf0\x9f\x98\x80"})
    BOOST_TEST(refusal([&] { require_id("id", good); }) == "", good);
  BOOST_TEST(refusal([] { require_id("id", "a\tb"); }) == "id \"a\uFFFDb\": it must not contain control characters");
}

BOOST_AUTO_TEST_CASE(parts_of_a_path) {
  BOOST_TEST(join("/", "a") == "/a");
  BOOST_TEST(join("/a", "b") == "/a/b");
  BOOST_TEST(parent_of("/a/b") == "/a");
  BOOST_TEST(parent_of("/a") == "/");
  BOOST_TEST(name_of("/a/b") == "b");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hosts)

void check_hosts(const std::string& text, const std::vector<endpoint>& servers, const std::string& root = {}) {
  BOOST_TEST_CONTEXT(text) {
    const auto parsed = parse_hosts(text);
    BOOST_TEST((parsed.servers == servers));
    BOOST_TEST(parsed.root == root);
  }
}

BOOST_AUTO_TEST_CASE(names_and_addresses_with_and_without_ports) {
  check_hosts("zk", {{"zk", 2181}});
  check_hosts("zk:1", {{"zk", 1}});
  check_hosts("127.0.0.1:65535", {{"127.0.0.1", 65535}});
  check_hosts("a:1,b,c:3", {{"a", 1}, {"b", 2181}, {"c", 3}});
}

BOOST_AUTO_TEST_CASE(ipv6_addresses_stand_in_brackets) {
  check_hosts("[::1]", {{"::1", 2181}});
  check_hosts("[::1]:2182,[fe80::1]:1", {{"::1", 2182}, {"fe80::1", 1}});
  check_hosts("[::1]:2182/app", {{"::1", 2182}}, "/app");
  BOOST_TEST(to_string(endpoint{"::1", 2182}) == "[::1]:2182");
  BOOST_TEST(to_string(endpoint{"127.0.0.1", 2182}) == "127.0.0.1:2182");
}

BOOST_AUTO_TEST_CASE(a_root_may_follow) {
  check_hosts("a:1/app/b", {{"a", 1}}, "/app/b");
  check_hosts("a:1,b:2/app", {{"a", 1}, {"b", 2}}, "/app");
  check_hosts("a:1/", {{"a", 1}}, "");
  check_hosts("a:1/app,b/c:2", {{"a", 1}}, "/app,b/c:2");
}

const std::pair<std::string, std::string> bad_hosts[] = {
    {"", "a host is missing"},
    {",a", "a host is missing"},
    {".a", "does not begin with a dot"},
    {"a,", "a host is missing"},
    {"a,,b", "a host is missing"},
    {"/app", "a host is missing"},
    {":2181", "before ':' is missing"},
    {"a:", "port"},
    {"a:0", "port"},
    {"a:65536", "port"},
    {"a:x", "port"},
    {"a:1x", "port"},
    {"a:-1", "port"},
    {"a:+1", "port"},
    {"a: 1", "spaces"},
    {"a b", "spaces"},
    {"a\n", "control"},
    {"::1", "brackets"},
    {"::1:2181", "brackets"},
    {"[::1", "']' is missing"},
    {"[::1]2181", "':port'"},
    {"[::1]:", "port"},
    {"[]", "IPv6 address"},
    {"[]:2181", "IPv6 address"},
    {"[zk]:2181", "IPv6 address"},
    {"a:1;b:2", "servers are separated by ','"},
    {"a;b", "servers are separated by ','"},
    {"zk://a:1/app", "it is no URL; write host:port[,host:port...][/root]"},
    {"a:1/app,b:2/app", "the root stands once, behind the last server, as in \"a:1,b:2/app\""},
    {"a/app,b/app,c/app", "as in \"a,b,c/app\""},
    {"a:1/app,b:2", "as in \"a:1,b:2/app\""},
    {"a:1/app,b:2/other", "as in \"a:1,b:2/app\""},
    {"a:1/,[::1]:2181/", "as in \"a:1,[::1]:2181/\""},
    {"a//b", "'//'"},
    {"a/b/", "end with '/'"},
    {"a/../b", "'..'"},
};

BOOST_AUTO_TEST_CASE(bad_host_lists_are_refused_with_the_part_and_the_reason) {
  for (const auto& [text, part] : bad_hosts) {
    BOOST_TEST_CONTEXT("hosts \"" << text << '"') {
      const auto message = refusal([&, &list = text] { parse_hosts(list); });
      BOOST_TEST(message.find("hosts") != std::string::npos, message);
      BOOST_TEST(message.find(part) != std::string::npos, message);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_a_long_list_the_bad_part_is_named) {
  const auto message = refusal([] { parse_hosts("one:2181,two:70000,three:2181"); });
  BOOST_TEST(message == "hosts \"two:70000\": the port must be a number from 1 to 65535");
}

BOOST_AUTO_TEST_SUITE_END()
