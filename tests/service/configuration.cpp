// The configuration of a service, and what it says of mistakes.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/configuration.hpp>

#include "service/role.hpp"

using namespace zkrecipes::service;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A folder with a configuration.
struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "service-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path = name;
  }
  ~folder() { fs::remove_all(path); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  configuration load(const std::string& text, const overrides& given = {}) const {
    return load_configuration(write("service.toml", text), given);
  }
  /// The message about this text, behind the name of the file.
  std::string refused(const std::string& text) const {
    const auto file = write("service.toml", text);
    try {
      load_configuration(file);
    } catch (const configuration_error& mistake) {
      const std::string said = mistake.what();
      return said.starts_with(file + ":") ? said.substr(file.size() + 1) : "not about the file: " + said;
    }
    return "not refused";
  }

  fs::path path;
};

const std::string least = "servers = \"a:1\"\ninput = \"/in\"\noutput = \"/out\"\n";

struct mistake {
  std::string text;
  std::string message;
};
std::ostream& operator<<(std::ostream& to, const mistake& each) { return to << each.text; }

const std::vector<mistake> mistakes{
    {"input = \"/in\"\noutput = \"/out\"", "1: servers: is missing: add servers = \"127.0.0.1:2181\""},
    {"servers = 3\n", "1: servers: is no text: put it in quotation marks"},
    {"servers = \"a\"\noutput = \"/out\"", "1: input: is missing: add input = \"/orders\""},
    {least + "root = \"a\"", "4: root: \"a\" is no path: give one that begins with a slash and does not end with one"},
    {least + "root = \"/a/../b\"", "4: root: \"/a/../b\" is no path"},
    {least + "root = \"/a/\"", "4: root: \"/a/\" is no path"},
    {least + "timeout = \"5\"", "4: timeout: \"5\" is no duration: give a number and a unit, such as \"500ms\""},
    {least + "timeout = \"50ms\"", "4: timeout: \"50ms\" is out of bounds: give \"100ms\" to \"3600s\""},
    {least + "timeout = \"9999999999999999999s\"", "4: timeout: \"9999999999999999999s\" is no duration"},
    {least + "hand_over = \"20s\"", "4: hand_over: is not shorter than grace"},
    {least + "hand_over = \"15s\"", "1: grace: is not longer than hand_over and http.put_timeout together, 20000 ms"},
    {least + "group = \"/in\"", "2: input: \"/in\" and the path of group, \"/in\", are the same"},
    {"servers = \"a\"\ninput = \"/in\"\noutput = \"/in/done\"",
     "3: output: \"/in/done\" and the path of input, \"/in\", are the same or one is within the other"},
    {"servers = \"a\"\ninput = \"/in\"\noutput = \"/group\"", "3: output: \"/group\" and the path of group, "},
    {least + "digest_file = \"none\"", "4: digest_file: can not read"},
    {least + "id = \"a/b\"", "4: id: \"a/b\" is no name"},
    {least + "mode = \"double\"", "4: mode: \"double\" is not known: give one of \"single\", \"shards\""},
    {least + "shards = 0", "4: shards: 0 is out of bounds: give a whole number from 1 to 10000"},
    {least + "shards = \"4\"", "4: shards: is no number: give a whole number from 1 to 10000, without quotation marks"},
    {least + "color = true", "4: color: is not known: correct its name, or remove it. Known here: consumer, "},
    {least + "http = 80", "4: http: is no table: write [http]"},
    {least + "[consumer]\nwindow = 0", "5: consumer.window: 0 is out of bounds: give a whole number from 1 to 10000"},
    {least + "[consumer]\nwindows = 3", "5: consumer.windows: is not known: correct its name, or remove it"},
    {least + "[consumer]\nwindow = 2\nparallel = 3", "6: consumer.parallel: is more than consumer.window"},
    {least + "[consumer]\nwindow = 4\nparallel = 3", "6: consumer.parallel: is more than 1 in strict order"},
    {least + "[consumer]\norder = \"by_key\"", "4: consumer.key: is missing: name the member of the messages"},
    {least + "[consumer]\n[consumer.duplicates]\nkeep = \"last\"",
     "6: consumer.duplicates.keep: \"last\" is not known"},
    {least + "[consumer.duplicates]\n", "4: consumer.duplicates: needs order by key"},
    {least + "[limiter]\nburst = 3", "4: limiter.rate: is missing: add the number of calls"},
    {least + "[consumer.limit]\nper = \"1s\"", "4: consumer.limit.rate: is missing: add the number of calls"},
    {least + "[spool]\nfolder = \"none\"", "5: spool.folder: there is no folder "},
    {least + "[spool]\nmost_messages = 5", "4: spool.folder: is missing: add folder = "},
    {least + "[http]\nport = 70000", "5: http.port: 70000 is out of bounds: give a whole number from 0 to 65535"},
    {least + "[http]\naddress = \"localhost\"", "5: http.address: \"localhost\" is no address: give one such as"},
    {least + "[spool]\nfolder = \"/sys\"",
     "5: spool.folder: can not write to /sys: Permission denied: change its owner"},
    {least + "[http]\nput_timeout = \"1m\"", "5: http.put_timeout: is not shorter than grace"},
    {least + "[log]\nlevel = \"loud\"", "5: log.level: \"loud\" is not known: give one of \"debug\""},
    {least + "[own]\nbank = 3", "5: own.bank: is no text: put it in quotation marks"},
    {least + "input = \"/twice\"", "4: "},
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_configuration, folder)

BOOST_AUTO_TEST_CASE(few_lines_are_enough) {
  const auto found = load(least);
  BOOST_TEST(!found.id.empty());
  BOOST_TEST(found.servers == "a:1");
  BOOST_TEST((found.mode == work_mode::single));
  BOOST_TEST(found.http.port == 8080);
  BOOST_TEST(!found.limiter.has_value());
  BOOST_TEST(!found.digest.has_value());
}

BOOST_AUTO_TEST_CASE(every_field_is_read) {
  write("digest", "smith:a:b\n");
  const auto found = load(
      "id = \"one\"\nservers = \"a,b\"\nroot = \"/r\"\ndigest_file = \"digest\"\ntimeout = \"3s\"\ngrace = \"1m\"\n"
      "hand_over = \"7s\"\nmode = \"shards\"\ngroup = \"/g\"\ninput = \"/i\"\noutput = \"/o\"\nshards = 5\n"
      "consumers = \"c\"\n[consumer]\norder = \"by_key\"\nwindow = 9\nparallel = 4\nkey = \"k\"\nattempts = 2\n"
      "retry_pause = \"4ms\"\n[consumer.duplicates]\nkeep = \"newest\"\nsafety = \"5s\"\n"
      "[consumer.limit]\nrate = 21\nper = \"3s\"\nburst = 22\n[limiter]\nrate = 11\n"
      "per = \"2m\"\nburst = 12\n[http]\naddress = \"::1\"\nport = 13\npending = 14\nput_timeout = \"15ms\"\n"
      "[spool]\nfolder = \".\"\ndurability = \"process\"\nmost_messages = 23\n[log]\nlevel = \"warning\"\n"
      "[own]\nbank = \"https://bank.example\"\n");
  BOOST_TEST(found.id == "one");
  BOOST_TEST(found.servers == "a,b");
  BOOST_TEST(found.root == "/r");
  BOOST_TEST(found.digest.value().user == "smith");
  BOOST_TEST(found.digest.value().password == "a:b");
  BOOST_TEST((found.timeout == 3s && found.grace == 60s && found.hand_over == 7s));
  BOOST_TEST((found.mode == work_mode::shards));
  BOOST_TEST(found.group == "/g");
  BOOST_TEST(found.input == "/i");
  BOOST_TEST(found.output == "/o");
  BOOST_TEST(found.shards == 5);
  BOOST_TEST(found.consumers == "c");
  BOOST_TEST((found.consumer.order == zkrecipes::message_order::by_key));
  BOOST_TEST(found.consumer.window == 9);
  BOOST_TEST(found.consumer.parallel == 4);
  BOOST_TEST(found.consumer.retry.attempts == 2);
  BOOST_TEST((found.consumer.retry.first == 4ms));
  BOOST_TEST((found.consumer.duplicates.value().keep == zkrecipes::keep::newest));
  BOOST_TEST((zkrecipes::lease_clock::duration(found.consumer.duplicates.value().safety) == 5s));
  BOOST_TEST(found.consumer.limit.value().rate == 21);
  BOOST_TEST((zkrecipes::lease_clock::duration(found.consumer.limit.value().per) == 3s));
  BOOST_TEST(found.consumer.limit.value().burst == 22);
  BOOST_TEST(found.limiter.value().rate == 11);
  BOOST_TEST((zkrecipes::lease_clock::duration(found.limiter.value().per) == 120s));
  BOOST_TEST(found.limiter.value().burst == 12);
  BOOST_TEST(found.http.address == "::1");
  BOOST_TEST(found.http.port == 13);
  BOOST_TEST(found.http.pending == 14);
  BOOST_TEST((found.http.put_timeout == 15ms));
  BOOST_TEST(fs::equivalent(found.spool.value().folder, path));
  BOOST_TEST((found.spool.value().durability == zkrecipes::spool_durability::process));
  BOOST_TEST(found.spool.value().most_messages == 23);
  BOOST_TEST((found.log_level == zkrecipes::log_severity::warning));
  BOOST_TEST(found.own.at("bank") == "https://bank.example");
}

BOOST_AUTO_TEST_CASE(the_sample_is_right_with_all_of_its_fields) {
  write("digest", "smith:secret\n");
  std::ifstream sample(SERVICE_SAMPLE);
  std::string all;
  for (std::string line; std::getline(sample, line);) {
    const bool is_field = line.find(" = ") != std::string::npos || line.starts_with("# [");
    all += (line.starts_with("# ") && is_field ? line.substr(2) : line) + "\n";
  }
  const std::string usual = "/var/lib/service";
  all.replace(all.find(usual), usual.size(), ".");
  const auto found = load(all);
  BOOST_TEST(found.digest.has_value());
  BOOST_TEST(found.consumer.limit.has_value());
  BOOST_TEST(found.consumer.duplicates.has_value());
  BOOST_TEST(found.spool.has_value());
  BOOST_TEST(found.shards == configuration().shards);
}

BOOST_AUTO_TEST_CASE(the_key_is_a_member_of_the_message) {
  const auto key = load(least + "[consumer]\norder = \"by_key\"\nkey = \"customer\"").consumer.key;
  zkrecipes::message item;
  item.data = R"({"customer":"smith","what":"tea"})";
  BOOST_TEST(key(item) == "smith");
  item.data = R"({"customer":42})";
  BOOST_TEST(key(item) == "42");
  item.data = "no object";
  BOOST_CHECK_THROW(key(item), std::exception);
}

BOOST_AUTO_TEST_CASE(the_command_line_overrides_the_file) {
  const auto found = load(least + "id = \"a\"\n[http]\nport = 1", {.id = "b", .port = 2});
  BOOST_TEST(found.id == "b");
  BOOST_TEST(found.http.port == 2);
}

BOOST_AUTO_TEST_CASE(credentials_without_a_colon_are_refused_and_not_shown) {
  write("digest", "secret");
  const auto said = refused(least + "digest_file = \"digest\"");
  BOOST_TEST(said.find("has to be user:password") != std::string::npos);
  BOOST_TEST(said.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(credentials_can_have_the_line_end_of_windows_and_no_empty_password) {
  write("digest", "smith:secret\r\n");
  BOOST_TEST(load(least + "digest_file = \"digest\"").digest.value().password == "secret");
  for (const char* empty : {"smith:\n", "smith:\r\n"}) {
    write("digest", empty);
    BOOST_TEST(refused(least + "digest_file = \"digest\"").find("has to be user:password") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_name_that_begins_like_another_one_is_not_within_it) {
  BOOST_TEST(load("servers = \"a\"\ninput = \"/in\"\noutput = \"/inside\"").output == "/inside");
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_told) {
  BOOST_CHECK_EXCEPTION(load_configuration((path / "none.toml").string()), configuration_error,
                        [](const auto& mistake) { return std::string(mistake.what()).find("none.toml: ") > 0; });
}

BOOST_DATA_TEST_CASE(a_mistake_is_told_with_line_field_and_cure, mistakes, each) {
  const auto said = refused(each.text);
  BOOST_TEST(said.substr(0, each.message.size()) == each.message);
}

BOOST_AUTO_TEST_SUITE_END()

// What a replica says of itself.

using zkrecipes::coordinator_phase;

BOOST_AUTO_TEST_SUITE(service_role)

BOOST_AUTO_TEST_CASE(a_replica_is_starting_until_it_is_in_line) {
  zkrecipes::coordinator_status now;
  BOOST_TEST(describe(now) == "starting");
  now.phase = coordinator_phase::campaigning;
  BOOST_TEST(describe(now) == "starting");
  BOOST_TEST(!takes_part(now));
  now.ahead = 1;
  BOOST_TEST(describe(now) == "standby");
  BOOST_TEST(takes_part(now));
}

BOOST_AUTO_TEST_CASE(a_leader_is_one_while_it_works) {
  zkrecipes::coordinator_status now;
  now.phase = coordinator_phase::inaugurating;
  BOOST_TEST(describe(now) == "starting");
  now.phase = coordinator_phase::executing;
  BOOST_TEST(describe(now) == "leader");
  now.phase = coordinator_phase::handing_over;
  BOOST_TEST(describe(now) == "handing over");
}

BOOST_AUTO_TEST_CASE(a_replica_without_work_is_refused) {
  boost::asio::io_context io;
  std::ostringstream to;
  json_log log(to, zkrecipes::log_severity::info);
  BOOST_CHECK_EXCEPTION(replica(io, {}, log, {}), std::invalid_argument, [](const std::invalid_argument& refusal) {
    return std::string_view(refusal.what()).starts_with("work::process is empty");
  });
}

BOOST_AUTO_TEST_SUITE_END()
