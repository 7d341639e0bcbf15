#include "live/admin_fixture.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/json/parse.hpp>

#include "base/text.hpp"

using namespace zkrecipes::test;
namespace json = boost::json;

void recipe_fixture::teardown() {
  for (const auto& each : made_)
    if (contains(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))), each);
  admin_fixture::teardown();
}

json::value recipe_fixture::list(const std::string& kind, std::vector<std::string> more, int code) {
  std::vector<std::string> words{"recipes", "-o", "json"};
  if (!kind.empty()) words.insert(words.end(), {"--kind", kind});
  words.insert(words.end(), more.begin(), more.end());
  const auto result = zkadmin(std::move(words));
  BOOST_TEST(result.code == code, result.code << ": " << result.err);
  return json::parse(result.out).at("recipes");
}

json::object recipe_fixture::recipe_at(const std::string& path, std::vector<std::string> more, int code) {
  const auto all = list("", std::move(more), code);
  for (const auto& each : all.as_array())
    if (each.at("path").as_string() == root() + path) return each.as_object();
  BOOST_FAIL("not listed: " + path);
  return {};
}

std::string recipe_fixture::roles_of(const json::object& recipe) {
  std::string text;
  for (const auto& each : recipe.at("participants").as_array()) {
    const auto& name = each.at("id").is_null() ? each.at("node") : each.at("id");
    text += (text.empty() ? "" : ", ") + std::string(each.at("role").as_string()) + " " + std::string(name.as_string());
  }
  return text;
}

std::string recipe_fixture::session_text(const zkrecipes::session& of) {
  return zkadmin::hexadecimal(static_cast<std::uint64_t>(of.status().session_id));
}

namespace {

std::string zxid_of(int server) {
  const std::string answer = ask(server, "srvr");
  const auto begin = answer.find("Zxid: ");
  return begin == answer.npos ? answer : answer.substr(begin, answer.find('\n', begin) - begin);
}

}  // namespace

outage::outage(std::vector<int> servers) : servers_(std::move(servers)) {
  for (const int each : servers_) cluster().kill(each);
}

std::vector<int> outage::quorum() {
  BOOST_TEST(wait_until([] { return std::set{zxid_of(1), zxid_of(2), zxid_of(3)}.size() == 1; }));
  const int leader = cluster().leader();
  return {leader, leader == 1 ? 2 : 1};
}

outage::~outage() {
  try {
    end();
  } catch (const std::exception& error) {
    BOOST_ERROR(error.what());
  }
}

void outage::end() {
  const auto servers = std::exchange(servers_, {});
  for (const int each : servers) cluster().start(each);
  if (!servers.empty()) cluster().wait_serving();
}

void admin_fixture::teardown() {
  for (auto& each : workers_) each.stop();
  BOOST_TEST(run_until([this] {
    return std::all_of(workers_.begin(), workers_.end(), [](const worker& each) { return each.has_ended(); });
  }));
  workers_.clear();
  ensemble_case::teardown();
}

program_result admin_fixture::zkadmin(std::vector<std::string> arguments,
                                      std::map<std::string, std::string> environment, const output_hook& told) {
  environment.emplace("ZKADMIN_HOSTS", hosts);
  environment.emplace("ZKADMIN_ROOT", root());
  environment.emplace("ZKADMIN_TIMEOUT", "20s");
  return run_zkadmin(io(), std::move(arguments), environment, told);
}

boost::json::value admin_fixture::status(int code) {
  const auto result = zkadmin({"status", "-o", "json"});
  BOOST_TEST(result.code == code, result.code << ": " << result.err);
  return boost::json::parse(result.out);
}

worker& admin_fixture::join(const std::string& path, const std::string& id, zkrecipes::session over,
                            std::chrono::milliseconds deadline) {
  const auto length = [&] { return contains(path) ? children(path).size() : 0; };
  const auto before = length();
  auto& last = workers_.emplace_back(*this, path, id, std::move(over), deadline);
  BOOST_TEST_REQUIRE(run_until([&] { return length() > before; }));
  return last;
}

bool admin_fixture::contains(const std::string& path) {
  const auto result = run(zk().async_exists(path, tuple));
  return !std::get<0>(result);
}

boost::json::object admin_fixture::election(const std::string& path,
                                            const std::function<bool(const boost::json::object&)>& condition) {
  boost::json::object found;
  BOOST_TEST_REQUIRE(run_until([&] {
    const auto document = status();
    for (const auto& each : document.at("elections").as_array())
      if (each.at("path").as_string() == root() + path) found = each.as_object();
    return !found.empty() && condition(found);
  }));
  return found;
}
