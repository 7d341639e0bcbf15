// The protocol between a process and its guardian: what is read and written, and what hostile lines come to.
#include "backend/guardian/guardian_message.hpp"

#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::backend;
using namespace std::chrono_literals;

namespace {

const std::string client(32, 'a');
const std::string hello_line = R"({"type":"hello","version":1,"client":")" + client + R"(","hang_limit_ms":0})";
const std::string session_line =
    R"({"type":"session","id":"1f","password":"00ff","timeout_ms":10000,"servers":["a:1"],"digest":[]})";
const std::string term_line = R"({"type":"term","session":"1f","record":"/e","node":"_c_1","seat":"/e/_c_1"})";

guarded_session full_session() {
  guarded_session session;
  session.key = {-2, std::string("\0\xffpass", 6), 10s};
  session.servers = {{"zk1.example", 2181}, {"::1", 2182}};
  session.digest = {{"user", "se:cr\"et"}, {"b\xc3\xa4r", ""}};
  return session;
}

std::vector<guardian_message> all_messages() {
  return {guardian_hello{client, 0ms},
          guardian_hello{std::string(32, '0'), 1500ms},
          full_session(),
          guarded_session_end{0x1f},
          guarded_term{0x1f, "/root/e", "_c_1", "/root/e/_c_1"},
          guarded_term{0x1f, "/root/shards/\xff", "member#3", ""},
          guarded_term_end{0x1f, "/root/e", "_c_1"},
          guardian_complete(),
          guardian_ping()};
}

/// The line with one field replaced, or added as the last one.
std::string with(const std::string& line, const std::string& name, const std::string& value) {
  return line.substr(0, line.size() - 1) + ",\"" + name + "\":" + value + "}";
}

std::string problem_of(const std::string& line) {
  const auto read = parse_guardian_message(line);
  BOOST_TEST((read.message.has_value() == read.problem.empty()));
  return read.problem;
}

/// What an array of so many elements looks like.
std::string array_of(std::size_t count, const std::string& element) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(element);
  return text + "]";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guardian_messages)

BOOST_AUTO_TEST_CASE(each_message_is_one_line_and_read_back) {
  for (const auto& each : all_messages()) {
    const auto line = to_line(each);
    BOOST_TEST_REQUIRE(line.has_value());
    BOOST_TEST(line->find('\n') == line->size() - 1, *line);
    const auto read = parse_guardian_message(line->substr(0, line->size() - 1));
    BOOST_TEST_REQUIRE(read.message.has_value(), read.problem);
    BOOST_TEST((*read.message == each), *line);
  }
}

BOOST_AUTO_TEST_CASE(secrets_are_hex_in_the_line) {
  const auto line = to_line(full_session()).value();
  BOOST_TEST(line.find("\"password\":\"00ff70617373\"") != line.npos, line);
  BOOST_TEST(line.find("\"id\":\"fffffffffffffffe\"") != line.npos, line);
  BOOST_TEST(line.find("se:cr") == line.npos, line);
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_ignored) {
  for (const auto& line : {hello_line, session_line, term_line}) {
    BOOST_TEST(problem_of(line) == "");
    BOOST_TEST(problem_of(with(line, "later", R"({"a":[1,2,{"b":null}]})")) == "");
  }
  BOOST_TEST(
      (parse_guardian_message(with(term_line, "later", "1")).message == parse_guardian_message(term_line).message));
}

BOOST_AUTO_TEST_CASE(a_line_that_is_no_message_is_refused) {
  for (const std::string line :
       {"", " ", "null", "[]", "7", "\"hello\"", "{", "{}", R"({"type":7})", R"({"type":null})", R"({"type":"Hello"})",
        R"({"type":"hello\u0000"})", R"({"type":"held"})", "{}{}"}) {
    BOOST_TEST(!problem_of(line).empty(), line);
  }
  BOOST_TEST(!problem_of(std::string("{\"type\":\"ping\"}\0", 16)).empty(), "a NUL byte behind it");
  BOOST_TEST(problem_of(R"({"type":"ping"})") == "");
}

BOOST_AUTO_TEST_CASE(a_field_of_another_type_or_out_of_bounds_is_named) {
  const std::vector<std::string> no_numbers{"null", "\"5\"", "-1", "1.5", "1e300", "9223372036854775808",
                                            "true", "[5]"};
  for (const auto& bad : no_numbers) {
    BOOST_TEST(problem_of(with(hello_line, "hang_limit_ms", bad)) == "hello: the field \"hang_limit_ms\"", bad);
    BOOST_TEST(problem_of(with(hello_line, "version", bad)) == "hello: the field \"version\"", bad);
    BOOST_TEST(problem_of(with(session_line, "timeout_ms", bad)) == "session: the field \"timeout_ms\"", bad);
  }
  for (const std::string bad : {"1", "99", "3600001"}) {
    BOOST_TEST(problem_of(with(hello_line, "hang_limit_ms", bad)) == "hello: the field \"hang_limit_ms\"", bad);
  }
  for (const std::string bad : {"0", "86400001"}) {
    BOOST_TEST(problem_of(with(session_line, "timeout_ms", bad)) == "session: the field \"timeout_ms\"", bad);
  }
  for (const std::string bad : {"2", "0"}) BOOST_TEST(!problem_of(with(hello_line, "version", bad)).empty(), bad);
  for (const auto& bad :
       std::vector<std::string>{"7", "null", "\"\"", "\"" + client + "a\"", "\"" + std::string(32, 'A') + "\""}) {
    BOOST_TEST(problem_of(with(hello_line, "client", bad)) == "hello: the field \"client\"", bad);
  }
}

BOOST_AUTO_TEST_CASE(ids_and_bytes_are_lower_case_hex) {
  for (const std::string bad : {"31", "null", "\"\"", "\"0\"", "\"000\"", "\"0x1f\"", "\"1F\"", "\"-1\"", "\" 1f\"",
                                "\"11111111111111111\"", "\"1f\\u0000\"", "[\"1f\"]"}) {
    BOOST_TEST(problem_of(with(session_line, "id", bad)) == "session: the field \"id\"", bad);
    BOOST_TEST(problem_of(with(term_line, "session", bad)) == "term: the field \"session\"", bad);
  }
  for (const std::string& bad : {std::string("7"), std::string("\"0\""), std::string("\"0G\""), std::string("\"FF\""),
                                 "\"" + std::string(514, '0') + "\""}) {
    BOOST_TEST(problem_of(with(session_line, "password", bad)) == "session: the field \"password\"", bad);
  }
}

BOOST_AUTO_TEST_CASE(servers_and_digests_are_bounded_lists) {
  for (const std::string bad :
       {"null", "{}", "\"a:1\"", "[]", "[1]", "[\"a:1\",null]", "[\"a\"]", "[\":1\"]", "[\"a:0\"]", "[\"a:65536\"]",
        "[\"a:-1\"]", "[\"a:1 \"]", "[\"a b:1\"]", "[\"a,b:1\"]", "[\"a\\u0000:1\"]", "[\"a/b:1\"]", "[\"[]:1\"]"}) {
    BOOST_TEST(problem_of(with(session_line, "servers", bad)) == "session: the field \"servers\"", bad);
  }
  BOOST_TEST(problem_of(with(session_line, "servers", array_of(64, "\"a:1\""))) == "");
  BOOST_TEST(!problem_of(with(session_line, "servers", array_of(65, "\"a:1\""))).empty());
  BOOST_TEST(!problem_of(with(session_line, "servers", array_of(1, "\"" + std::string(256, 'a') + ":1\""))).empty());
  for (const std::string bad : {"null", "[\"user\"]", "[\":00\"]", "[\"user:0\"]", "[\"user:hush\"]",
                                "[\"u\\u0000:00\"]", "[\"user:6100\"]", "[{}]", "{}"}) {
    BOOST_TEST(problem_of(with(session_line, "digest", bad)) == "session: the field \"digest\"", bad);
  }
  BOOST_TEST(!problem_of(with(session_line, "digest", array_of(33, "\"u:00\""))).empty());
}

BOOST_AUTO_TEST_CASE(paths_that_would_harm_the_client_of_zookeeper_are_refused) {
  for (const std::string bad : {"null", "7", "\"\"", "\"/\"", "\"a\"", "\"/a/\"", "\"//a\"", "\"/a//b\"", "\"/./a\"",
                                "\"/a/..\"", "\"/a\\u0000\"", "\"/a\\u0001b\"", "\"/a\\n\"", "\"/a\\u007f\""}) {
    BOOST_TEST(problem_of(with(term_line, "record", bad)) == "term: the field \"record\"", bad);
  }
  BOOST_TEST(!problem_of(with(term_line, "record", "\"/" + std::string(longest_path, 'a') + "\"")).empty());
}

BOOST_AUTO_TEST_CASE(a_seat_is_a_path_or_missing) {
  for (const std::string bad : {"\"e\"", "\"/e/\"", "7", "null", "\"\""}) {
    BOOST_TEST(problem_of(with(term_line, "seat", bad)) == "term: the field \"seat\"", bad);
  }
  for (const auto& bad :
       std::vector<std::string>{"null", "\"\"", "7", "\"a\\u0000\"", "\"" + std::string(1025, 'a') + "\""}) {
    BOOST_TEST(
        problem_of(with(R"({"type":"term","session":"1","record":"/e"})", "node", bad)) == "term: the field \"node\"",
        bad);
  }
}

BOOST_AUTO_TEST_CASE(a_problem_repeats_nothing_of_the_line) {
  for (const auto* name : {"id", "password", "servers", "digest", "timeout_ms"}) {
    const auto problem = problem_of(with(session_line, name, "\"hush\""));
    BOOST_TEST(problem.find("hush") == problem.npos, problem);
  }
  BOOST_TEST(problem_of(R"({"type":"hush"})").find("hush") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_long_deep_or_full_of_fields_is_judged_all_the_same) {
  BOOST_TEST(problem_of(with(hello_line, "a", "\"" + std::string(longest_line, 'x') + "\"")) == "the line is too long");
  BOOST_TEST(problem_of(std::string(longest_line * 3, '{')) == "the line is too long");
  const auto deep = std::string(30'000, '[') + std::string(30'000, ']');
  BOOST_TEST(problem_of(with(hello_line, "a", deep)) == "the line is not a JSON object");
  auto many = hello_line;
  for (int i = 0; many.size() < longest_line - 100; ++i) many = with(many, "f" + std::to_string(i), "0");
  BOOST_TEST(problem_of(many) == "");
  BOOST_TEST(!problem_of(with(session_line, "servers", array_of(10'000, "\"a:1\""))).empty());
}

BOOST_AUTO_TEST_CASE(what_a_reader_would_refuse_is_not_written) {
  BOOST_TEST(!to_line(guardian_hello{"short", 0ms}));
  BOOST_TEST(!to_line(guardian_hello{client, 99ms}));
  BOOST_TEST(!to_line(guarded_session_end{0}));
  BOOST_TEST(!to_line(guarded_term{1, "e", "n", ""}));
  BOOST_TEST(!to_line(guarded_term{1, "/e", "n", "f"}));
  auto session = full_session();
  session.servers.clear();
  BOOST_TEST(!to_line(session));
  session.servers.assign(most_guarded_servers, {std::string(250, 'h'), 1});
  BOOST_TEST(to_line(session).has_value());
  session.digest.assign(most_guarded_digests, {"user", std::string(1024, 's')});
  BOOST_TEST(!to_line(session), "too long together");
}

BOOST_AUTO_TEST_CASE(ten_thousand_terms_are_ten_thousand_lines) {
  for (int i = 0; i < 10'000; ++i) {
    const guardian_message term = guarded_term{1, "/g/shard/" + std::to_string(i), "m~1#" + std::to_string(i), {}};
    const auto line = to_line(term);
    BOOST_TEST_REQUIRE(line.has_value());
    BOOST_TEST_REQUIRE((parse_guardian_message(line->substr(0, line->size() - 1)).message == term));
  }
}

BOOST_AUTO_TEST_CASE(answers_are_read_back_and_everything_else_is_none) {
  using kind = guardian_answer::kind;
  for (const auto& each :
       {guardian_answer{kind::held, ""}, guardian_answer{kind::held, "", guarded_count{0, 0}},
        guardian_answer{kind::held, "", guarded_count{2, 10'000}}, guardian_answer{kind::full, "too many terms"},
        guardian_answer{kind::refused, "line \"3\""}}) {
    const auto line = to_line(each);
    BOOST_TEST(line.find('\n') == line.size() - 1);
    BOOST_TEST((parse_guardian_answer(line.substr(0, line.size() - 1)) == each), line);
  }
  for (const std::string line : {"", "{}", "[]", R"({"type":"welcome"})", R"({"type":7})", "\xff"}) {
    BOOST_TEST(!parse_guardian_answer(line).has_value(), line);
  }
  const auto cleaned = parse_guardian_answer(R"({"type":"refused","reason":"a\u001b[2Jb\n"})").value();
  BOOST_TEST(cleaned.reason == "a\uFFFD[2Jb\uFFFD");
}

BOOST_AUTO_TEST_CASE(hex_is_exact) {
  BOOST_TEST(to_hex(std::string("\0\x7f\xff", 3)) == "007fff");
  BOOST_TEST(from_hex("007fff").value() == std::string("\0\x7f\xff", 3));
  BOOST_TEST(from_hex("").value() == "");
  for (const auto* bad : {"0", "0g", "FF", " 0", "0x"}) BOOST_TEST(!from_hex(bad).has_value(), bad);
  BOOST_TEST(session_from_hex("ffffffffffffffff").value() == -1);
  BOOST_TEST(session_to_hex(-1) == "ffffffffffffffff");
}

BOOST_AUTO_TEST_SUITE_END()
