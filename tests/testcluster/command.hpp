#pragma once

#include <map>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "support.hpp"

struct outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
  boost::json::object json() const { return boost::json::parse(out).as_object(); }
};

/// Runs the `testcluster` command with a register of its own. The destructor ends every cluster that is still up.
class command {
 public:
  ~command();
  outcome run(const std::vector<std::string>& arguments);
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  std::filesystem::path register_folder() const { return place_.path() / "testcluster"; }

 private:
  scratch place_;
  std::map<std::string, std::string> environment_;
};
