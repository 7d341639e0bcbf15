// A case with zkadmin and some replicas on the shared ensemble.
#pragma once

#include "live/program.hpp"
#include "live/worker.hpp"
#include "support/fixture.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

/// Servers that are killed for a while; they serve again at the end, however the case ends.
class outage {
 public:
  explicit outage(std::vector<int> servers);
  /// Of the leader and one more, in a quiet moment: if the one that is left had logged what the others have
  /// not, ZooKeeper 3.8.0 would not always come back (ZOOKEEPER-4685).
  static std::vector<int> quorum();
  ~outage();
  outage(const outage&) = delete;

  void end();

 private:
  std::vector<int> servers_;
};

/// As in the JSON of `zkadmin status`.
inline bool is_executing(const boost::json::object& election) { return election.at("phase") == "executing"; }

class admin_fixture : public zkrecipes::test::fixture {
 public:
  admin_fixture() : hosts(zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts())) {}

  void teardown();

  program_result zkadmin(std::vector<std::string> arguments,
                         std::map<std::string, std::string> environment = {});

  /// What `status -o json` prints below our root; the case fails unless it ends with this code.
  boost::json::value status(int code = 0);

  /// One more at the end of the line.
  worker& join(const std::string& path, const std::string& id);

  bool contains(const std::string& path);

  /// The election at `path` below our root, once the condition holds for it.
  boost::json::object election(const std::string& path,
                               const std::function<bool(const boost::json::object&)>& condition);

  std::string hosts;

 private:
  std::deque<worker> workers_;
};
