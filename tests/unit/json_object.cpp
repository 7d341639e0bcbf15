// The reader and writer of all stored records: what it accepts, what its getters refuse, and what is kept.
#include "format/json_object.hpp"

#include <limits>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

json_object parsed(std::string_view text) {
  auto object = json_object::parse(text);
  BOOST_TEST_REQUIRE(object.has_value(), text);
  return std::move(*object);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json_objects)

BOOST_AUTO_TEST_CASE(only_one_whole_object_is_accepted) {
  for (const std::string text : {"", " ", "x", "7", "null", "[]", "[{}]", "{", "{}}", "{} x", "{'a':1}", "{\"a\":}"}) {
    BOOST_TEST(!json_object::parse(text).has_value(), text);
  }
  BOOST_TEST(json_object::parse(" {} ").has_value());
  const auto nested = [](std::size_t levels) {  // the object itself is the first level
    return "{\"a\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + '}';
  };
  BOOST_TEST(json_object::parse(nested(32)).has_value());
  BOOST_TEST(!json_object::parse(nested(33)).has_value());
  BOOST_TEST(!json_object::parse(std::string(100'000, '[')).has_value());
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_is_kept_where_it_is_allowed) {
  const std::string text = "{\"id\":\"\xff\xfe\"}";
  BOOST_TEST(parsed(text).text("id").value() == "\xff\xfe");
  BOOST_TEST(parsed(text).to_text() == text);
  BOOST_TEST(!json_object::parse(text, encoding::utf8).has_value());
}

BOOST_AUTO_TEST_CASE(of_a_field_that_is_there_twice_the_last_one_counts) {
  BOOST_TEST(parsed(R"({"a":1,"a":2})").integer("a").value() == 2);
}

BOOST_AUTO_TEST_CASE(a_number_is_whole_and_within_its_bounds) {
  const auto object = parsed(R"({"a":3,"b":3.0,"c":3e0,"d":3.5,"e":"3","f":-1,"g":9223372036854775808,"h":null})");
  for (const auto* whole : {"a", "b", "c"}) BOOST_TEST(object.integer(whole).value() == 3, whole);
  for (const auto* bad : {"d", "e", "g", "h", "missing"}) BOOST_TEST(!object.integer(bad).has_value(), bad);
  BOOST_TEST(object.integer("a", 3, 3).has_value());
  BOOST_TEST(!object.integer("a", 4, 9).has_value());
  BOOST_TEST(!object.integer("a", 0, 2).has_value());
  const auto largest = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST(parsed(json_object().set("n", largest).to_text()).integer("n").value() == largest);
}

BOOST_AUTO_TEST_CASE(a_time_is_not_negative) {
  const auto object = parsed(R"({"a":1500,"b":-1,"c":"1500"})");
  BOOST_TEST((object.time("a") == 1500ms));
  BOOST_TEST((object.time("a", 1500ms) == 1500ms));
  BOOST_TEST(!object.time("a", 1499ms).has_value());
  BOOST_TEST(!object.time("b").has_value());
  BOOST_TEST(!object.time("c").has_value());
}

BOOST_AUTO_TEST_CASE(a_getter_returns_only_its_own_type) {
  const auto object = parsed(R"({"text":"t","flag":true,"texts":["a","b"],"mixed":["a",1],"numbers":[1,-2],)"
                             R"("large":[2147483648],"object":{"a":1},"null":null})");
  BOOST_TEST(object.text("text").value() == "t");
  BOOST_TEST(object.flag("flag").value());
  BOOST_TEST((object.texts("texts") == std::vector<std::string>{"a", "b"}));
  BOOST_TEST((object.integers("numbers") == std::vector<std::int32_t>{1, -2}));
  BOOST_TEST(object.object("object").value().integer("a").value() == 1);
  BOOST_TEST(!object.integers("large").has_value());
  for (const auto* other : {"mixed", "large", "null", "missing"}) {
    BOOST_TEST(!object.text(other).has_value(), other);
    BOOST_TEST(!object.flag(other).has_value(), other);
    BOOST_TEST(!object.texts(other).has_value(), other);
    BOOST_TEST(!object.object(other).has_value(), other);
  }
  BOOST_TEST(object.has("null"));
  BOOST_TEST(!object.has("missing"));
}

BOOST_AUTO_TEST_CASE(any_value_can_be_read_and_set_as_json) {
  auto object = parsed(R"({"payload":{"a":[1,null]}})");
  BOOST_TEST(object.raw("payload") == R"({"a":[1,null]})");
  BOOST_TEST(object.raw("missing") == "");
  BOOST_TEST(object.set_raw("payload", "7"));
  BOOST_TEST(!object.set_raw("payload", "{"));
  BOOST_TEST(!object.set_raw("payload", "\"\xff\""));
  BOOST_TEST(object.to_text() == R"({"payload":7})");
}

BOOST_AUTO_TEST_CASE(the_mark_tells_the_kind) {
  BOOST_TEST(json_object::of_kind("term").to_text() == R"({"zkrecipes":"term"})");
  BOOST_TEST(parsed(R"({"zkrecipes":"term"})").is("term"));
  BOOST_TEST(!parsed(R"({"zkrecipes":"terms"})").is("term"));
  BOOST_TEST(!parsed(R"({"zkrecipes":7})").is("term"));
  BOOST_TEST(parsed(R"({"zkrecipes":7})").is_marked());
  BOOST_TEST(!parsed("{}").is("term"));
  BOOST_TEST(!parsed("{}").is_marked());
}

BOOST_AUTO_TEST_CASE(unknown_fields_go_into_the_next_record) {
  const auto read = parsed(R"({"a":1,"zkrecipes":"term","later":[1,{"x":null}],"b":2})");
  const auto unknown = read.without({"a", "b"});
  BOOST_TEST(unknown.to_text() == R"({"later":[1,{"x":null}]})");
  auto next = json_object::of_kind("term");
  BOOST_TEST(next.set("a", 5).add(unknown).to_text() == R"({"zkrecipes":"term","a":5,"later":[1,{"x":null}]})");
  BOOST_TEST(next.add(parsed(R"({"a":9})")).integer("a").value() == 5, "a field that is there is not replaced");
}

BOOST_AUTO_TEST_CASE(nulls_can_be_dropped) {
  BOOST_TEST(parsed(R"({"a":null,"b":1,"c":null,"d":null})").drop_nulls().to_text() == R"({"b":1})");
}

BOOST_AUTO_TEST_SUITE_END()
