// The reader and writer of all stored records: what it accepts, what its getters refuse, and what is kept.
#include "format/json_object.hpp"

#include <limits>
#include <utility>
#include <vector>

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

BOOST_AUTO_TEST_CASE(a_whole_number_in_another_notation_is_read_exactly) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, std::int64_t>>{
           {"-0", 0},
           {"1e18", 1'000'000'000'000'000'000},
           {"9007199254740991.0", 9007199254740991},
           {"900719925474099.1e1", 9007199254740991},
           {"-9223372036854775808.0", std::numeric_limits<std::int64_t>::min()}})
    BOOST_TEST(parsed("{\"n\":" + text + "}").integer("n").value() == value, text);
  for (const char* bad : {"9223372036854775808", "9223372036854775808.0", "-9223372036854775809", "1e999", "-1e999",
                          "1e-999", "18446744073709551615"})
    BOOST_TEST(!parsed("{\"n\":" + std::string(bad) + "}").integer("n").has_value(), bad);
  BOOST_TEST(!parsed(R"({"n":[2147483648.0]})").integers("n").has_value());
  BOOST_TEST((parsed(R"({"n":[2147483647.0,-2147483648]})").integers("n") ==
              std::vector<std::int32_t>{2147483647, std::numeric_limits<std::int32_t>::min()}));
}

BOOST_AUTO_TEST_CASE(a_field_that_is_not_set_is_written_as_it_was_read) {
  for (const std::string value :
       {"9223372036854775807", "18446744073709551616", "-123456789012345678901234567890", "0.1000000000000000055511",
        "1.7976931348623157e308", "1e999", "-1E+999", "1e-999", "-0", "-0.0", "2.50", "2.2250738585072011e-308",
        "[1.0,[2.00,{}],[]]", R"({"a":{"b":9007199254740993.0},"a":1})", R"("\u0041\/\ud83d\ude00 ] } , \" ")",
        R"([true,false,null,"",[],"x"])"}) {
    const auto text = "{\"a\":" + value + ",\"b\":7}";
    const auto read = parsed(text);
    BOOST_TEST(read.raw("a") == value);
    BOOST_TEST(read.to_text() == text);
    BOOST_TEST(json_object().add(read.without({"b"})).to_text() == "{\"a\":" + value + "}");
    BOOST_TEST((parsed(read.to_text()) == read), value);
    json_object copy;
    BOOST_TEST(copy.set_raw("a", value), value);
    BOOST_TEST(copy.raw("a") == value);
    BOOST_TEST(json_object().set("outer", read).object("outer").value().raw("a") == value);
  }
}

BOOST_AUTO_TEST_CASE(blanks_between_tokens_are_dropped) {
  const auto read = parsed(" {\r\n\t\"a\" : [ 1 , \" x \" , { \"b\" :\t2.0 } ] ,\"c\": 3\n } ");
  BOOST_TEST(read.to_text() == R"({"a":[1," x ",{"b":2.0}],"c":3})");
  BOOST_TEST(parsed(" { } ").to_text() == "{}");
}

BOOST_AUTO_TEST_CASE(names_and_texts_are_read_without_their_escapes) {
  const auto read = parsed(R"({"\u0061":"\"\\\/\b\f\n\r\t\u001f\u20ac","\"":["\ud83d\ude00"]})");
  BOOST_TEST(read.text("a").value() == "\"\\/\b\f\n\r\t\x1f\xe2\x82\xac");
  BOOST_TEST((read.texts("\"") == std::vector<std::string>{"\xf0\x9f\x98\x80"}));
  BOOST_TEST(read.names().size() == 2u);
  BOOST_TEST(json_object().set("\"", "\"\\/\b\f\n\r\t\x1f\x7f\xe2\x82\xac").to_text() ==
             R"({"\"":"\"\\/\b\f\n\r\t\u001f)"
             "\x7f\xe2\x82\xac\"}");
}

BOOST_AUTO_TEST_CASE(an_object_with_many_fields_is_the_same) {
  constexpr int many = 2'000;
  json_object object, reversed;
  for (int i = 0; i < many; ++i) object.set(std::to_string(i), i);
  for (int i = many; i-- > 0;) reversed.set(std::to_string(i), i);
  BOOST_TEST((object == reversed));
  BOOST_TEST((object == parsed(object.to_text())));
  BOOST_TEST((object != reversed.set("7", 8)));
  for (int i = 0; i < many; ++i) BOOST_TEST_REQUIRE(object.integer(std::to_string(i)).value() == i);
  object.erase("5").set_null("6").set("7", "x").drop_nulls();
  BOOST_TEST((!object.has("5") && !object.has("6") && !object.has("-1")));
  BOOST_TEST((object.text("7") == "x" && object.integer("1999") == 1999 && object.names().size() == many - 2u));
  auto text = object.to_text();
  text.back() = ',';
  BOOST_TEST(parsed(text + "\"8\":1,\"8\":2}").integer("8").value() == 2);
}

BOOST_AUTO_TEST_CASE(elements_are_taken_and_set_as_json) {
  auto object = parsed(R"({"a":[1.50,"x",{"b":[2,3]},[],null],"b":7,"c":[]})");
  const auto elements = object.elements("a").value();
  BOOST_TEST(elements == (std::vector<std::string>{"1.50", "\"x\"", R"({"b":[2,3]})", "[]", "null"}),
             boost::test_tools::per_element());
  BOOST_TEST(!object.elements("b").has_value());
  BOOST_TEST(object.elements("c").value().empty());
  BOOST_TEST(object.set_elements("c", elements).raw("c") == object.raw("a"));
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
