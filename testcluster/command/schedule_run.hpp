#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>

#include <boost/json.hpp>

#include "schedule.hpp"

namespace testcluster::command {

/// Carries out a schedule on a cluster that is up, and prints each step when it begins.
class schedule_run {
 public:
  using clock = std::chrono::steady_clock;

  /// Waits until a time. The number of the signal that has ended the wait, or 0.
  using waiter = std::function<int(clock::time_point)>;

  schedule_run(std::filesystem::path dir, const schedule& plan, std::ostream& out, waiter wait);

  /// Returns an exit status: 0 when all steps are done, 1 after a step that failed, 128+N after a signal. After a
  /// failure and after a signal the faults that have an end are ended at once, and no further step begins.
  int run();

 private:
  using milliseconds = std::chrono::milliseconds;
  void begin(const schedule_step& step);
  bool end_all();
  bool attempt(const std::string& what, const boost::json::object& request);
  int resolve(const target& server, const schedule_step& step);
  milliseconds elapsed() const;
  void print(const std::string& what);
  struct ending {
    std::string what;
    boost::json::object request;
  };
  std::filesystem::path dir_;
  const schedule& plan_;
  std::ostream& out_;
  waiter wait_;
  clock::time_point start_;
  std::multimap<milliseconds, ending> endings_;
  bool failed_ = false;
};

}  // namespace testcluster::command
