// What `watch` tells of the differences between two looks.
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "report/node_report.hpp"

using namespace zkadmin;
namespace json = boost::json;
using kind = node_change::kind;

namespace {

zkrecipes::node_data node(std::int64_t creator, std::int32_t version, const std::string& data = "x") {
  zkrecipes::node_data read;
  read.data = data;
  read.stat.czxid = creator;
  read.stat.mzxid = creator + version;
  read.stat.pzxid = creator;
  read.stat.version = version;
  return read;
}

zkrecipes::node_children listed(std::int64_t creator, std::int32_t changes, std::vector<std::string> names) {
  zkrecipes::node_children read;
  read.names = std::move(names);
  read.stat.czxid = creator;
  read.stat.pzxid = creator + 100 + changes;
  read.stat.cversion = changes;
  return read;
}

/// A node that was seen with version 3 and the children b and a.
node_memory seen() {
  node_memory memory;
  BOOST_TEST((memory.begin(node(50, 3)).what == kind::present));
  memory.begin_children(listed(50, 2, {"b", "a"}));
  return memory;
}

using names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(watching)

BOOST_AUTO_TEST_CASE(versions_that_nobody_saw_are_counted) {
  auto memory = seen();
  const auto next = memory.on_data(node(50, 4));
  BOOST_TEST_REQUIRE(next.size() == 1u);
  BOOST_TEST((next[0].what == kind::changed && next[0].unseen == 0));
  const auto later = memory.on_data(node(50, 7));
  BOOST_TEST((later.at(0).what == kind::changed && later[0].unseen == 2));
  BOOST_TEST(memory.mzxid() == 57);
}

BOOST_AUTO_TEST_CASE(a_version_that_wraps_around_is_the_next_one) {
  node_memory memory;
  memory.begin(node(50, std::numeric_limits<std::int32_t>::max()));
  auto next = node(50, 0);
  next.stat.version = std::numeric_limits<std::int32_t>::min();
  BOOST_TEST((memory.on_data(next).at(0).unseen == 0));
}

BOOST_AUTO_TEST_CASE(children_that_came_and_went) {
  auto memory = seen();
  const auto next = memory.on_children(listed(50, 4, {"c", "b"}));
  BOOST_TEST_REQUIRE(next.size() == 1u);
  BOOST_TEST((next[0].added == names{"c"} && next[0].removed == names{"a"} && next[0].unseen == 0));
  const auto back = memory.on_children(listed(50, 6, {"c", "b"}));
  BOOST_TEST_REQUIRE(back.size() == 1u, "one was created and deleted, or deleted and created");
  BOOST_TEST((back[0].added.empty() && back[0].removed.empty() && back[0].unseen == 2));
  BOOST_TEST(memory.on_children(listed(50, 6, {"b", "c"})).empty());
}

BOOST_AUTO_TEST_CASE(deleted_and_created_again_between_two_looks) {
  auto memory = seen();
  const auto by_data = memory.on_data(node(80, 1));
  BOOST_TEST_REQUIRE(by_data.size() == 2u);
  BOOST_TEST((by_data[0].what == kind::deleted && !by_data[0].unseen));
  BOOST_TEST((by_data[1].what == kind::created && by_data[1].unseen == 1));
  BOOST_TEST(memory.pzxid() == 80, "its first children will be told as added");
  const auto first = memory.on_children(listed(80, 1, {"a"}));
  BOOST_TEST((first.at(0).added == names{"a"} && first[0].unseen == 0));

  const auto by_children = memory.on_children(listed(90, 0, {}));
  BOOST_TEST_REQUIRE(by_children.size() == 1u);
  BOOST_TEST((by_children[0].what == kind::deleted));
  BOOST_TEST((!memory.exists() && memory.mzxid() == 0));
  BOOST_TEST((memory.on_data(node(90, 0)).at(0).what == kind::created));
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes) {
  node_memory memory;
  BOOST_TEST((memory.begin({}).what == kind::absent));
  BOOST_TEST(memory.on_gone().empty());
  BOOST_TEST(memory.on_children(listed(50, 0, {})).empty());
  BOOST_TEST((memory.on_data(node(50, 0)).at(0).what == kind::created));
  BOOST_TEST((memory.on_gone().at(0).what == kind::deleted));
  BOOST_TEST(memory.on_gone().empty(), "both waits tell of it");
}

BOOST_AUTO_TEST_CASE(lines_for_people) {
  const auto line = [](const node_change& change) { return to_text(change, "/a", 0, node_format::table); };
  const std::string time = "1970-01-01T00:00:00.000Z ";
  const auto read = node(50, 4, "hello\nworld");
  BOOST_TEST(line({kind::changed, read.stat, read.data, {}, {}, 2}) ==
             time + "changed /a version 4, 11 bytes (2 versions in between not seen): hello\uFFFDworld\n");
  BOOST_TEST(line({kind::created, read.stat, std::string("\xff")}) == time + "created /a version 4, 1 byte: binary\n");
  BOOST_TEST(line({kind::children, read.stat, {}, {"b", "\x1b"}, {"c"}, 1}) ==
             time + "children /a +b +\uFFFD -c (1 change in between not seen)\n");
  BOOST_TEST(line({kind::children, read.stat, {}, names(13, "n")}).ends_with(" +n +3 more\n"));
  BOOST_TEST(line({kind::deleted, {}, {}, {}, {}, {}}) ==
             time + "deleted /a (changes before that may not have been seen)\n");
  BOOST_TEST(line({kind::reconnected}) == time + "reconnected /a (several changes may be told as one)\n");
}

BOOST_AUTO_TEST_CASE(lines_for_programs) {
  const auto parsed = [](const node_change& change) {
    const auto text = to_text(change, "/a", 7, node_format::ndjson);
    BOOST_TEST(text.find('\n') == text.size() - 1);
    return json::parse(text).as_object();
  };
  const auto read = node(50, 4);
  const auto changed = parsed({kind::changed, read.stat, std::string("\xff"), {}, {}, 2});
  BOOST_TEST((changed.at("time_ms") == 7 && changed.at("event") == "changed" && changed.at("path") == "/a"));
  BOOST_TEST((changed.at("version") == 4 && changed.at("unseen") == 2));
  BOOST_TEST((changed.at("encoding") == "base64" && changed.at("data") == "/w=="));
  BOOST_TEST(parsed({kind::deleted, {}, {}, {}, {}, {}}).at("unseen").is_null());
  BOOST_TEST(parsed({kind::reconnected}).at("may_have_missed").as_bool());
  const auto children = parsed({kind::children, read.stat, {}, names(10'002, "n"), {"c"}});
  BOOST_TEST(children.at("added_count") == 10'002);
  BOOST_TEST(children.at("added").as_array().size() == 10'000u);
  BOOST_TEST(children.at("removed").at(0) == "c");
  BOOST_TEST(to_text({kind::children, read.stat, {}, {"b\t"}, {"c"}}, "/a", 7, node_format::tsv) ==
             "change\t7\tchildren\t/a\t0\t4\t\t\nadded\t/a\tb\\t\nremoved\t/a\tc\n");
}

BOOST_AUTO_TEST_SUITE_END()
