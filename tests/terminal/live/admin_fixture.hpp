// A fixture with zkadmin and some replicas on the shared ensemble.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include "ensemble/ensemble_case.hpp"
#include "live/running_program.hpp"
#include "live/worker.hpp"

/// Kills servers for a while. The destructor starts them again, however the case ends.
class outage {
 public:
  explicit outage(std::vector<int> servers);
  /// The leader and one more server, to kill so that the quorum is lost. First waits until all three servers have the
  /// same zxid: if the server that is left had logged a transaction that the others have not, ZooKeeper 3.8.0 would not
  /// always recover (ZOOKEEPER-4685).
  static std::vector<int> quorum();
  ~outage();
  outage(const outage&) = delete;

  void end();

 private:
  std::vector<int> servers_;
};

/// `election` is an object from the JSON of `zkadmin status`.
inline bool is_executing(const boost::json::object& election) { return election.at("phase") == "executing"; }

class admin_fixture : public zkrecipes::test::ensemble_case {
 public:
  admin_fixture() : hosts(zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts())) {}

  void teardown();

  program_result zkadmin(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {},
                         const output_hook& told = {});

  /// The JSON that `status -o json` prints about our root. The case fails if the exit code is not `code`.
  boost::json::value status(int code = 0);

  /// Adds a worker at the end of the line.
  worker& join(const std::string& path, const std::string& id, zkrecipes::session over,
               std::chrono::milliseconds deadline = std::chrono::seconds(20));
  worker& join(const std::string& path, const std::string& id) { return join(path, id, connect()); }

  bool contains(const std::string& path);

  /// The election at `path` below our root, once the condition holds for it.
  boost::json::object election(const std::string& path,
                               const std::function<bool(const boost::json::object&)>& condition);

  std::string hosts;

 private:
  std::deque<worker> workers_;
};
