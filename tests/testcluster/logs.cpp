// The servers' logs as the command prints them.
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "command.hpp"

namespace {

/// A directory as a dead cluster leaves it.
class left_logs {
 public:
  void write(int id, const std::string& text) const {
    const auto folder = place_.path() / "ensemble" / ("server." + std::to_string(id));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "log", std::ios::binary) << text;
  }
  outcome print(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"logs", "--dir", place_.path().string()});
    return command().run(options);
  }

 private:
  scratch place_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_logs)

BOOST_AUTO_TEST_CASE(lines_come_in_the_order_of_time) {
  left_logs logs;
  logs.write(1, "09:00:00.100 first\n  its trace\n09:00:00.300 third\n");
  logs.write(2, "no time\n09:00:00.200 second\n23:59:59.999 last today\n00:00:00.001 tomorrow\n");
  logs.write(3, "23:59:59.998 before\n00:00:00.000 midnight\nno end of line");
  BOOST_TEST(logs.print().out ==
             "2 | no time\n1 | 09:00:00.100 first\n1 |   its trace\n2 | 09:00:00.200 second\n1 | 09:00:00.300 third\n"
             "3 | 23:59:59.998 before\n2 | 23:59:59.999 last today\n3 | 00:00:00.000 midnight\n"
             "2 | 00:00:00.001 tomorrow\n3 | no end of line\n");
}

BOOST_AUTO_TEST_CASE(one_server_has_no_prefix) {
  left_logs logs;
  logs.write(1, "a\n");
  BOOST_TEST(logs.print().out == "a\n");
  logs.write(2, "b\n");
  BOOST_TEST(logs.print({"2"}).out == "b\n");
  BOOST_TEST(logs.print({"--follow", "2"}).out == "b\n");  // nobody writes any more
}

BOOST_AUTO_TEST_CASE(a_log_gives_no_orders_to_the_terminal) {
  left_logs logs;
  logs.write(1, "red \x1b[31m\tand\r\x7f \u009b\u202e\u00e9\n");
  BOOST_TEST(logs.print().out == "red \\x1b[31m\tand\\x0d\\x7f \\xc2\\x9b\\xe2\\x80\\xae\u00e9\n");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_named) {
  left_logs logs;
  BOOST_TEST(contains(logs.print().err, "there are no logs"));
  logs.write(1, "a\n");
  const auto missing = logs.print({"2"});
  BOOST_TEST(missing.exit_code == 1);
  BOOST_TEST(contains(missing.err, "there is no server 2"));
}

BOOST_AUTO_TEST_SUITE_END()
