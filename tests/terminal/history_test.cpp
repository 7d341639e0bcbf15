// The output of `history`, and the options of `resign`.
#include <iostream>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "cluster/election_reader.hpp"
#include "report/history_report.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr std::chrono::system_clock::time_point begin{1'700'000'000s};

election_status sample_terms() {
  election_status election;
  election.path = "/e";
  election.epoch = 8;
  election.phase = "executing";
  election.history = {{5, "a\x1b", std::nullopt, begin, "forced"},
                      {7, "b", begin + 10s, begin + 70s, "retired"},
                      {8, "c", begin + 70s, std::nullopt, ""}};
  return election;
}

std::string refused_by(std::vector<const char*> arguments) {
  try {
    require_consistent(parse_command_line(arguments, std::cout)->resignation);
  } catch (const failure& error) {
    BOOST_TEST((error.code() == exit_code::usage));
    return error.what();
  }
  return "not refused";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(history)

// The figures of its consumer are written into the record again and again.
BOOST_AUTO_TEST_CASE(a_leader_that_executes_is_as_old_as_its_term) {
  zkrecipes::election_view view;
  view.since = begin + 60s;
  view.phase = zkrecipes::term_phase::executing;
  BOOST_TEST((status_of(view).since == begin + 60s), "an older version has not told when the term began");
  view.began = begin;
  BOOST_TEST((status_of(view).since == begin));
  view.phase = zkrecipes::term_phase::handing_over;
  BOOST_TEST((status_of(view).since == begin + 60s));
}

BOOST_AUTO_TEST_CASE(a_table_with_the_present_term_last) {
  BOOST_TEST(formatted_history(sample_terms(), output_format::table, begin + 112s) ==
             "EPOCH  LEADER  BEGAN                    LASTED  ENDED\n"
             "    5  a\xef\xbf\xbd      -                             -  forced\n"
             "    7  b       2023-11-14 22:13:30 UTC  1m 00s  retired\n"
             "    8  c       2023-11-14 22:14:30 UTC    42 s  goes on: executing\n");
  BOOST_TEST(formatted_history({}, output_format::table, begin) == "no term is recorded\n");
}

BOOST_AUTO_TEST_CASE(for_programs) {
  const auto document = json::parse(formatted_history(sample_terms(), output_format::json, begin + 112s));
  BOOST_TEST(document.at("schema") == 1);
  BOOST_TEST(document.at("path") == "/e");
  BOOST_TEST(json::serialize(document.at("terms").at(1)) ==
             R"({"epoch":7,"leader":"b","began_ms":1700000010000,"ended_ms":1700000070000,"lasted_ms":60000,)"
             R"("outcome":"retired"})");
  BOOST_TEST(json::serialize(document.at("terms").at(2)) ==
             R"({"epoch":8,"leader":"c","began_ms":1700000070000,"ended_ms":null,"lasted_ms":42000,"outcome":null})");
  BOOST_TEST(document.at("terms").at(0).at("lasted_ms").is_null());
  BOOST_TEST(formatted_history(sample_terms(), output_format::tsv, begin + 112s)
                 .ends_with("term\t/e\t8\tc\t1700000070000\t\t42000\t\n"));
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_behind_gives_no_negative_length) {
  const auto document = json::parse(formatted_history(sample_terms(), output_format::json, begin));
  BOOST_TEST(document.at("terms").at(2).at("lasted_ms") == 0);
}

BOOST_AUTO_TEST_CASE(options_of_resign_that_do_not_go_together) {
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force", "--grace", "1s", "--yes", "a", "-o", "ndjson"}) ==
             "not refused");
  BOOST_TEST(refused_by({"resign", "/e", "--for", "1s"}).ends_with("need --wait"));
  BOOST_TEST(refused_by({"resign", "/e", "-o", "ndjson"}).ends_with("need --wait"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force"}).ends_with("need each other"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--grace", "1s"}).ends_with("need each other"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--yes", "a"}).ends_with("needs --force"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force", "--grace", "1m"}).ends_with("shorter than --for"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--for", "soon"}).find("--for") != std::string::npos);
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "-o", "tsv"}).find("expected table or ndjson") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
