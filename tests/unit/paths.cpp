// Paths, host lists and names of nodes: what is refused, and that the message says what and why.
#include "session/paths.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "barrier/round_view.hpp"
#include "election/term_record.hpp"
#include "external/delivery_memory.hpp"
#include "format/shown_text.hpp"
#include "line/line_spec.hpp"
#include "queue/queue_layout.hpp"
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

// Names of nodes in a line: which recipe they belong to, and their order.

using boost::test_tools::per_element;

namespace {

constexpr std::int32_t largest = 0x7fffffff;
constexpr std::int32_t smallest = -largest - 1;

std::optional<std::int32_t> sequence_of(std::string_view name) {
  return parse_sequence(name, election_line("/e").accepted);
}

std::vector<std::string> in_order(const std::vector<std::string>& names) {
  std::vector<std::string> sorted;
  for (const auto& each : members_of(names, election_line("/e").accepted)) sorted.push_back(each.name);
  return sorted;
}

std::vector<std::int32_t> strangers(std::span<const std::string_view> markers, std::vector<std::string> names) {
  return strangers_among(names, markers);
}

std::string name_with(std::int32_t sequence) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%010d", sequence);  // as the server writes it
  return std::string("x-latch-") + digits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_names)

BOOST_AUTO_TEST_CASE(our_names_are_curators) { BOOST_TEST(protected_name("0f", "latch-") == "_c_0f-latch-"); }

BOOST_AUTO_TEST_CASE(curators_and_kazoos_members_are_known) {
  BOOST_TEST((sequence_of("_c_5f6a-latch-0000000007") == 7));
  BOOST_TEST((sequence_of("_c_5f6a-lock-0000000012") == 12));
  BOOST_TEST((sequence_of("latch-0000000000") == 0));
  BOOST_TEST((sequence_of("6a1c__lock__0000000003") == 3));
  BOOST_TEST((sequence_of("_c_a-latch-b-latch-0000000004") == 4));
}

BOOST_AUTO_TEST_CASE(foreign_names_are_not_members) {
  for (auto name : {"", "latch-", "latch", "config", "0000000007", "x-latch-7", "x-latch-000000000",
                    "x-latch-00000000x7", "x-latch-0000000007x", "x-latch-+000000007", "x-latch- 000000007",
                    "x-latch-99999999999", "x-latch--2147483649", "x-__READ__0000000001"}) {
    BOOST_TEST(!sequence_of(name).has_value(), name);
  }
}

BOOST_AUTO_TEST_CASE(numbers_reach_to_the_wrap_and_beyond) {
  BOOST_TEST((sequence_of("x-latch-2147483647") == largest));
  BOOST_TEST((sequence_of("x-latch--2147483648") == smallest));
  BOOST_TEST((sequence_of("x-latch--000000001") == -1));
  BOOST_TEST((sequence_of(name_with(smallest)) == smallest));
}

BOOST_AUTO_TEST_CASE(order_is_by_number_and_not_by_text) {
  const std::vector<std::string> expected{"z-latch-0000000002", "a-latch-0000000010", "m__lock__0000000011"};
  BOOST_TEST(in_order({expected[2], expected[1], "foreign", expected[0]}) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(order_goes_on_across_the_wrap) {
  BOOST_TEST(before(largest, smallest));
  BOOST_TEST(!before(smallest, largest));
  BOOST_TEST(before(-1, 0));
  BOOST_TEST(!before(5, 5));
  const std::vector<std::string> expected{name_with(largest - 1), name_with(largest), name_with(smallest),
                                          name_with(smallest + 1)};
  BOOST_TEST(in_order({expected[2], expected[0], expected[3], expected[1]}) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_last_million_before_the_wrap_is_refused) {
  BOOST_TEST(!is_exhausted(0));
  BOOST_TEST(!is_exhausted(largest - (1 << 20)));
  BOOST_TEST(is_exhausted(largest - (1 << 20) + 1));
  BOOST_TEST(is_exhausted(largest));
  BOOST_TEST(is_exhausted(-1));
  BOOST_TEST(is_exhausted(smallest));
}

// Numbers from all around the circle have no order by `before`. Anybody who may create nodes can create such numbers.
BOOST_AUTO_TEST_CASE(numbers_all_around_are_cut_at_one_place) {
  std::mt19937 random(4711);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int32_t> numbers;
    for (int i = 0; i < 3 + round % 30; ++i) numbers.push_back(static_cast<std::int32_t>(random()));
    std::vector<std::string> names;
    for (auto each : numbers) names.push_back(name_with(each));
    std::sort(numbers.begin(), numbers.end());
    const auto sorted = in_order(names);
    const auto first = std::find(numbers.begin(), numbers.end(), *sequence_of(sorted.front()));
    BOOST_TEST_REQUIRE((first != numbers.end()));
    std::rotate(numbers.begin(), first, numbers.end());
    std::vector<std::string> expected;
    for (auto each : numbers) expected.push_back(name_with(each));
    BOOST_TEST_REQUIRE((sorted == expected), "round " << round);
  }
}

// Where we use the same names as Curator or kazoo, their names stand here for ours.
BOOST_AUTO_TEST_CASE(members_of_other_lines_are_strangers) {
  const std::vector<std::string> lines{
      "_c_5f6a-latch-0000000000",    "_c_5f6a-lock-0000000001",     "6a1c__lock__0000000002",
      "_c_5f6a-__READ__0000000003",  "_c_5f6a-__WRIT__0000000004",  "6a1c__rlock__0000000005",
      "_c_5f6a-3-permit-0000000006", "_c_5f6a-3-member-0000000007", "_c_5f6a-idle-0000000008"};
  using numbers = std::vector<std::int32_t>;
  BOOST_TEST(strangers(election_line("/e").accepted, lines) == (numbers{3, 4, 5, 6, 7, 8}), per_element());
  BOOST_TEST(strangers(lock_line("/l").accepted, lines) == (numbers{0, 3, 4, 5, 6, 7, 8}), per_element());
  BOOST_TEST(strangers(round_markers(), lines) == (numbers{0, 1, 2, 3, 4, 5, 6, 8}), per_element());
}

BOOST_AUTO_TEST_CASE(items_of_a_queue_are_strangers_in_any_line) {
  for (auto kind : {queue_kind::fifo, queue_kind::priority, queue_kind::delayed}) {
    const auto item = queue_layout(kind, "/q").marker(123) + "0000000009";
    BOOST_TEST(strangers(lock_line("/l").accepted, {item}) == std::vector<std::int32_t>{9}, per_element());
  }
}

BOOST_AUTO_TEST_CASE(names_that_no_recipe_gives_are_no_strangers) {
  BOOST_TEST(strangers(lock_line("/l").accepted,
                       {"", "config", "lock", "0000000007", "x-latch-7", "format-0000000001", "xqn-0000000000", "qn-7",
                        "qn-x-0000000001", "entry-0000000001", "at-0000000001", "_claim-qn-0000000000", "_idle"})
                 .empty());
}

BOOST_AUTO_TEST_SUITE_END()

// The ids that producers give to their messages.
BOOST_AUTO_TEST_SUITE(numbered_ids)

BOOST_AUTO_TEST_CASE(an_id_comes_back_as_it_was) {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& each :
       {numbered_id{"orders", 8589934601, 17}, numbered_id{"a:b", 0, 1}, numbered_id{":", 1, largest},
        numbered_id{"zkr:x:1:2", largest, 3}, numbered_id{std::string(255, 'n'), 1, 1}}) {
    const auto read = parse_numbered_id(to_string(each));
    BOOST_TEST_REQUIRE(read.has_value(), to_string(each));
    BOOST_TEST((*read == each), to_string(each));
  }
  BOOST_TEST(to_string({"orders", 7, 12}) == "zkr:orders:7:12");
}

BOOST_AUTO_TEST_CASE(what_is_written_in_another_way_is_an_id_of_somebody_else) {
  for (const auto* each : {"",
                           "zkr",
                           "zkr:",
                           "zkr::",
                           "zkr:::",
                           "zkr::1:2",
                           "zkr:p:1:0",
                           "zkr:p:1:",
                           "zkr:p::2",
                           "zkr:p:01:2",
                           "zkr:p:1:02",
                           "zkr:p:1:+2",
                           "zkr:p:1:-2",
                           "zkr:p:1: 2",
                           "zkr:p:1:2 ",
                           "zkr:p:x:2",
                           "zkr:1:2",
                           "ZKR:p:1:2",
                           " zkr:p:1:2",
                           "zkr:p:1:18446744073709551616",
                           "zkr:p:18446744073709551616:1",
                           "p:1:2"}) {
    BOOST_TEST(!parse_numbered_id(each), each);
  }
  BOOST_TEST(!parse_numbered_id("zkr:" + std::string(256, 'n') + ":1:1"));
}

BOOST_AUTO_TEST_CASE(two_texts_never_mean_the_same_message) {
  const std::string letters = "zkr:0123 -";
  std::size_t read_ones = 0;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "zkr:";
    for (auto length = random() % 8; length > 0; --length) text += letters[random() % letters.size()];
    const auto read = parse_numbered_id(text);
    if (!read) continue;
    ++read_ones;
    BOOST_TEST_REQUIRE(to_string(*read) == text);
  }
  BOOST_TEST(read_ones > 50u);
}

BOOST_AUTO_TEST_SUITE_END()
