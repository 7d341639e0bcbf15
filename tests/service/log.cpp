// The log of the part service.
#include <sstream>

#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/json_log.hpp>

BOOST_AUTO_TEST_SUITE(service_log)

BOOST_AUTO_TEST_CASE(an_event_of_the_session_is_an_object_a_line) {
  std::ostringstream to;
  zkrecipes::service::json_log log(to, zkrecipes::log_severity::info);
  zkrecipes::log_event event;
  event.severity = zkrecipes::log_severity::warning;
  event.event = zkrecipes::session_event::connect_failed;
  event.server = "10.0.0.1:2181";
  event.detail = "a \"quoted\"\nline";
  log.hook()(event);
  const auto text = to.str();
  BOOST_TEST(text.find('\n') == text.size() - 1);
  const auto line = boost::json::parse(text).as_object();
  BOOST_TEST(line.at("level").as_string() == "warning");
  BOOST_TEST(line.at("event").as_string() == zkrecipes::to_string(zkrecipes::session_event::connect_failed));
  BOOST_TEST(line.at("server").as_string() == "10.0.0.1:2181");
  BOOST_TEST(line.at("detail").as_string() == "a \"quoted\"\nline");
  BOOST_TEST(line.at("time").as_string().size() == 24);
  BOOST_TEST(!line.contains("path"));
}

BOOST_AUTO_TEST_CASE(a_line_is_json_whatever_a_server_says) {
  std::ostringstream to;
  zkrecipes::service::json_log log(to, zkrecipes::log_severity::info);
  log.info("refused", {{"detail", "\xff \x1b[31m"}});
  BOOST_TEST(boost::json::parse(to.str()).at("detail").as_string() == "\xef\xbf\xbd \\x1b[31m");
}

BOOST_AUTO_TEST_CASE(what_is_below_the_level_is_left_out) {
  std::ostringstream to;
  zkrecipes::service::json_log log(to, zkrecipes::log_severity::warning);
  log.info("quiet");
  BOOST_TEST(to.str().empty());
  log.error("loud");
  BOOST_TEST(to.str().find("\"loud\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_line_that_could_not_be_written_does_not_end_the_log) {
  std::ostringstream to;
  zkrecipes::service::json_log log(to, zkrecipes::log_severity::info);
  to.setstate(std::ios::badbit);  // as after a write to a full disk
  log.info("next");
  BOOST_TEST(to.str().find("\"next\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lines_that_are_lost_are_counted_on_the_next_one) {
  struct : std::stringbuf {
    std::streamsize xsputn(const char* text, std::streamsize size) override {
      return is_full ? 0 : std::stringbuf::xsputn(text, size);
    }
    bool is_full = true;
  } disk;
  std::ostream to(&disk);
  zkrecipes::service::json_log log(to, zkrecipes::log_severity::info);
  for (const char* event : {"first", "second"}) log.info(event);
  disk.is_full = false;
  for (const char* event : {"third", "fourth"}) log.info(event);
  std::istringstream lines(disk.str());
  std::string third, fourth;
  std::getline(std::getline(lines, third), fourth);
  BOOST_TEST(boost::json::parse(third).at("event").as_string() == "third");
  BOOST_TEST(boost::json::parse(third).at("lost_lines").to_number<int>() == 2);
  BOOST_TEST(!boost::json::parse(fourth).as_object().contains("lost_lines"));
}

BOOST_AUTO_TEST_SUITE_END()
