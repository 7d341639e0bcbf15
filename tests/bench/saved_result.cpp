#include "saved_result.hpp"

#include <cmath>
#include <ctime>
#include <exception>
#include <thread>
#include <utility>

#include <unistd.h>

#include <boost/version.hpp>

#include "support/cluster.hpp"

namespace bench {

namespace json = boost::json;

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[sizeof "2000-12-31"];
  text[std::strftime(text, sizeof text, "%Y-%m-%d", &utc)] = '\0';
  return text;
}

/// The number in the first line of the answer to `srvr`: "Zookeeper version: 3.8.0-1a2b3c, built on ...". Empty if
/// there are no servers, which has failed the parts that need them.
std::string zookeeper_version() try {
  const std::string answer = zkrecipes::test::ask(1, "srvr");
  const auto begin = answer.find_first_of("0123456789");
  return begin == answer.npos ? "" : answer.substr(begin, answer.find_first_not_of("0123456789.", begin) - begin);
} catch (const std::exception&) {
  return {};
}

std::string compiler_version() {
  return std::to_string(__GNUC__) + '.' + std::to_string(__GNUC_MINOR__) + '.' + std::to_string(__GNUC_PATCHLEVEL__);
}

std::string boost_version() {
  return std::to_string(BOOST_VERSION / 100'000) + '.' + std::to_string(BOOST_VERSION / 100 % 1000) + '.' +
         std::to_string(BOOST_VERSION % 100);
}

json::object versions(const peer_versions& peers) {
  json::object all{{"ZooKeeper", zookeeper_version()}, {"GCC", compiler_version()}, {"Boost", boost_version()}};
  if (!peers.curator.empty()) all["Curator"] = peers.curator;
  if (!peers.kazoo.empty()) all["kazoo"] = peers.kazoo;
  return all;
}

json::object machine() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {{"cores", std::thread::hardware_concurrency()}, {"memory_gib", std::lround(bytes / (1 << 30))}};
}

/// Each entry on a line of its own, so that two results can be compared line by line.
void append_entry(std::string& text, const char* key, const json::value& what) {
  text += " " + json::serialize(json::string(key)) + ": " + json::serialize(what) + ",\n";
}

}  // namespace

std::string saved_result(const std::vector<row>& rows, const std::vector<std::string>& failed, const plan& what,
                         const peer_versions& peers) {
  std::string text = "{\n";
  append_entry(text, "date", json::string(today()));
  append_entry(text, "round_trip_ms", 2 * what.one_way_ms);
  append_entry(text, "repeat", what.repeat);
  append_entry(text, "rounds", what.rounds);
  append_entry(text, "versions", versions(peers));
  append_entry(text, "machine", machine());
  if (!failed.empty()) append_entry(text, "failed", json::value_from(failed));
  text += " \"rows\": [";
  const char* separator = "\n  ";
  for (const auto& each : to_json(rows)) text += std::exchange(separator, ",\n  ") + json::serialize(each);
  return text + "\n ]\n}\n";
}

}  // namespace bench
