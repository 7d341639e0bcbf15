// The audit log: its entries, its bounds, the file.
#include "change/audit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "report/check_report.hpp"
#include "support/temporary_folder.hpp"

using namespace zkadmin;
namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

audit_entry entry_of(const std::string& id, audit_state state = audit_state::done) {
  return {id, 1'700'000'000'000, "me@here", "billing", "zkadmin resign /e --rw", "set /e version=0\n", state, "asked"};
}

/// Files of this process do not become longer, as on a disk that is full.
class size_limit {
 public:
  explicit size_limit(rlim_t most) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{most, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  size_limit(const size_limit&) = delete;

 private:
  rlimit before_{};
};

struct log_file {
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
  std::string refused(const std::string& file) const {
    try {
      append_audit_line(file, entry_of("a"));
    } catch (const failure& error) {
      return error.what();
    }
    return "not refused";
  }
  zkrecipes::test::temporary_folder folder;
  fs::path dir = folder.path();
  std::string path = (dir / "audit.jsonl").string();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(audit, log_file)

BOOST_AUTO_TEST_CASE(an_entry_is_read_as_it_was_written) {
  for (const auto state : {audit_state::begun, audit_state::done, audit_state::failed}) {
    const auto written = entry_of("a", state);
    const auto read = parse_audit_entry(to_json_line(written, 1000));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST((*read == written));
  }
  for (const char* bad : {"", "{}", "x", R"({"id":"a","state":"other"})", R"({"id":7,"state":"done"})"})
    BOOST_TEST(!parse_audit_entry(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(a_new_entry_names_the_user_and_the_machine) {
  const auto made = new_entry("billing", "zkadmin resign /e", "set /e\n");
  BOOST_TEST(made.id.size() > 8u);
  BOOST_TEST(made.id != new_entry("billing", "", "").id);
  BOOST_TEST(made.at_ms > 1'600'000'000'000);
  BOOST_TEST(made.who.find('@') != std::string::npos);
  BOOST_TEST((made.state == audit_state::begun));
}

BOOST_AUTO_TEST_CASE(the_end_takes_the_place_of_the_beginning_in_the_node) {
  auto log = audit_log_with("", entry_of("a", audit_state::begun));
  log = audit_log_with(log, entry_of("b", audit_state::begun));
  log = audit_log_with(log, entry_of("a", audit_state::done));
  const auto entries = parse_audit_log(log);
  BOOST_TEST_REQUIRE(entries.has_value());
  BOOST_TEST_REQUIRE(entries->size() == 2u);
  BOOST_TEST(entries->at(0).id == "b");
  BOOST_TEST((entries->at(1).state == audit_state::done));
}

BOOST_AUTO_TEST_CASE(the_node_keeps_a_hundred_entries_and_64_kib) {
  std::string log;
  for (int i = 0; i < 250; ++i) log = audit_log_with(log, entry_of(std::to_string(i)));
  auto entries = parse_audit_log(log);
  BOOST_TEST_REQUIRE(entries->size() == most_audit_entries);
  BOOST_TEST(entries->front().id == "150");
  for (int i = 0; i < 250; ++i) {
    auto longest = entry_of(std::to_string(i));
    longest.requests = std::string(100'000, '"');
    longest.command = longest.result = std::string(100'000, 'x');
    log = audit_log_with(log, longest);
    BOOST_TEST_REQUIRE(log.size() <= most_audit_bytes);
  }
  entries = parse_audit_log(log);
  BOOST_TEST(entries->size() > 5u);
  BOOST_TEST(entries->back().id == "249");
}

BOOST_AUTO_TEST_CASE(other_data_is_no_log_and_what_a_later_version_adds_is_kept) {
  BOOST_TEST(parse_audit_log("")->empty());
  for (const char* other : {"x", "{}", "[]", R"({"zkrecipes":"term","entries":[]})", R"({"zkrecipes":"audit"})",
                            R"({"zkrecipes":"audit","entries":{}})"})
    BOOST_TEST(!parse_audit_log(other).has_value(), other);
  const auto log =
      audit_log_with(R"({"zkrecipes":"audit","later":[1],"entries":[{"id":"z","more":2}]})", entry_of("a"));
  const auto document = json::parse(log);
  BOOST_TEST(document.at("later").as_array().size() == 1u);
  BOOST_TEST(document.at("entries").at(0).at("more") == 2);
  BOOST_TEST(parse_audit_log(log)->size() == 1u, "what can not be read is not shown, and stays");
  BOOST_TEST((unreadable_entries(log) == 1u && unreadable_entries("") == 0u && unreadable_entries("x") == 0u));
}

BOOST_AUTO_TEST_CASE(an_entry_that_was_read_is_written_the_same) {
  auto malformed = entry_of("a\xff");
  malformed.who = "u\xc3@h";
  malformed.command = std::string(999, 'x') + "\xe2\x82";  // longer than its bound once its bytes are replaced
  malformed.requests = std::string(5'000, '\xff');
  malformed.result = std::string(1'001, 'r');
  const auto stored = "{\"id\":\"a\xff\",\"at_ms\":1,\"who\":\"u\xc3\",\"cluster\":\"\xfe\",\"command\":\"" +
                      std::string(1'500, '\x80') + "\",\"state\":\"done\",\"result\":\"e\xe2\x82\"}";
  for (const auto& line : {to_json_line(malformed, 1000), stored}) {
    const auto read = parse_audit_entry(line);
    BOOST_TEST_REQUIRE(read.has_value());
    const auto text = to_json_line(*read, 1000);
    const auto again = parse_audit_entry(text);
    BOOST_TEST_REQUIRE(again.has_value());
    BOOST_TEST(to_json_line(*again, 1000) == text);
    BOOST_TEST(well_formed(text) == text);
  }
  BOOST_TEST(parse_audit_entry(stored)->who == "u\xef\xbf\xbd");
}

BOOST_AUTO_TEST_CASE(other_entries_of_the_node_stay_as_they_are_written) {
  const std::string others = R"({"id":"z","at_ms":1.0,"state":"done","load":0.1000000000000000055511},)"
                             R"({"id":"y","more":[12345678901234567890123,"\u0041",")"
                             "\xff"
                             R"("]})";
  const auto log =
      audit_log_with(R"({"zkrecipes":"audit","later":9007199254740993.0,"entries":[)" + others + "]}", entry_of("a"));
  BOOST_TEST(log.starts_with(R"({"zkrecipes":"audit","later":9007199254740993.0,"entries":[)" + others + ","), log);
  BOOST_TEST(parse_audit_log(log)->size() == 2u);
  BOOST_TEST(unreadable_entries(log) == 1u);
}

BOOST_AUTO_TEST_CASE(a_line_is_appended_and_the_file_is_its_owners) {
  append_audit_line(path, entry_of("a", audit_state::begun));
  append_audit_line(path, entry_of("a", audit_state::done));
  append_audit_line(path, entry_of("b", audit_state::begun));
  const auto written = text();
  BOOST_TEST(std::count(written.begin(), written.end(), '\n') == 3);
  struct ::stat about {};
  BOOST_TEST_REQUIRE(::stat(path.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0600u);
  const auto read = read_audit_lines(path);
  BOOST_TEST_REQUIRE(read.entries.size() == 2u);
  BOOST_TEST((read.entries[0].state == audit_state::done));
  BOOST_TEST((read.entries[1].state == audit_state::begun));
  BOOST_TEST(read.unreadable == 0u);
}

BOOST_AUTO_TEST_CASE(a_line_gives_a_terminal_no_orders_and_reads_the_same) {
  auto odd = entry_of("a");
  odd.command = "set /a\u202e\u009b";
  append_audit_line(path, odd);
  BOOST_TEST(text().find(R"("set /a\u202e\u009b")") != std::string::npos, text());
  BOOST_TEST_REQUIRE(read_audit_lines(path).entries.size() == 1u);
  BOOST_TEST(read_audit_lines(path).entries[0].command == odd.command);
}

BOOST_AUTO_TEST_CASE(many_may_append_at_once) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([this, i] {
      for (int j = 0; j < 25; ++j) append_audit_line(path, entry_of(std::to_string(100 * i + j)));
    });
  }
  for (auto& each : writers) each.join();
  const auto read = read_audit_lines(path);
  BOOST_TEST(read.entries.size() == 100u);
  BOOST_TEST(read.unreadable == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_written_is_refused) {
  BOOST_TEST(refused(dir.string()).starts_with("audit_file: "));
  BOOST_TEST(refused((dir / "missing" / "log").string()).ends_with("No such file or directory"));
  const auto pipe = (dir / "pipe").string();
  BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_TEST(refused(pipe) != "not refused");
  BOOST_TEST(refused("/dev/full").ends_with("not a regular file"));
}

BOOST_AUTO_TEST_CASE(a_symbolic_link_is_not_followed) {
  const auto elsewhere = (dir / "elsewhere").string();
  fs::create_symlink(elsewhere, path);
  BOOST_TEST(refused(path).ends_with("it is a symbolic link, or a loop of them"), refused(path));
  BOOST_TEST(!fs::exists(elsewhere));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_everybodys_is_told) {
  BOOST_TEST(append_audit_line(path, entry_of("a")) == "");
  BOOST_TEST_REQUIRE(::chmod(path.c_str(), 0640) == 0);
  BOOST_TEST(append_audit_line(path, entry_of("a")) == "");
  BOOST_TEST_REQUIRE(::chmod(path.c_str(), 0644) == 0);
  BOOST_TEST(append_audit_line(path, entry_of("a")) == "everybody may read or change it");
}

BOOST_AUTO_TEST_CASE(a_line_that_does_not_fit_is_taken_away) {
  append_audit_line(path, entry_of("a"));
  const auto before = text();
  const auto said = [&] {
    const size_limit limit(before.size() + 20);
    return refused(path);
  }();
  BOOST_TEST(said.ends_with("it was not written in full"), said);
  BOOST_TEST(text() == before);
  append_audit_line(path, entry_of("b"));
  const auto read = read_audit_lines(path);
  BOOST_TEST(read.entries.size() == 2u);
  BOOST_TEST(read.unreadable == 0u);
}

BOOST_AUTO_TEST_CASE(only_a_regular_file_is_read) {
  const auto pipe = (dir / "pipe").string();
  BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto is_refused = [](const failure& error) {
    return std::string(error.what()).ends_with("not a regular file");
  };
  for (const auto& each : {pipe, dir.string(), std::string("/dev/zero")})
    BOOST_CHECK_EXCEPTION(read_audit_lines(each), failure, is_refused);
}

BOOST_AUTO_TEST_CASE(what_is_no_entry_is_counted_and_a_long_file_is_read_from_its_end) {
  std::ofstream(path) << "garbage\n" << to_json_line(entry_of("a"), 1000) << "\n{}\n";
  auto read = read_audit_lines(path);
  BOOST_TEST(read.entries.size() == 1u);
  BOOST_TEST(read.unreadable == 2u);
  BOOST_TEST(!read.is_cut);
  std::ofstream(path) << std::string(2 * 1024 * 1024, 'x') << "\n" << to_json_line(entry_of("b"), 1000) << "\n";
  read = read_audit_lines(path);
  BOOST_TEST(read.is_cut);
  BOOST_TEST_REQUIRE(read.entries.size() == 1u);
  BOOST_TEST(read.entries[0].id == "b");
  BOOST_TEST(read_audit_lines((dir / "none").string()).entries.empty());
}

BOOST_AUTO_TEST_CASE(printed_in_three_formats) {
  auto strange = entry_of("a");
  strange.result = "x\x1b[2J\ny";
  const std::vector<audit_entry> all{strange};
  const auto table = formatted_audit(all, output_format::table);
  BOOST_TEST(table.find('\x1b') == std::string::npos);
  BOOST_TEST(table.find("2023-11-14 22:13:20 UTC  me@here  billing  zkadmin resign /e --rw  done") != std::string::npos,
             table);
  const auto document = json::parse(formatted_audit(all, output_format::json));
  BOOST_TEST(document.at("interventions").at(0).at("requests") == "set /e version=0\n");
  BOOST_TEST(formatted_audit(all, output_format::tsv).starts_with("intervention\ta\t1700000000000\tme@here\t"));
  BOOST_TEST(formatted_audit({}, output_format::table) == "no interventions\n");
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(formatted_audit({}, output_format::json, false) ==
             "{\"schema\":1,\"complete\":false,\"interventions\":[]}\n");
}

BOOST_AUTO_TEST_SUITE_END()
