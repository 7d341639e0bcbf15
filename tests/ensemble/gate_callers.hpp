// Callers of a shared gate from several sessions, for the tests with many of them.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/shared_gate.hpp>

#include "ensemble/ensemble_case.hpp"

namespace zkrecipes::test {

/// All stand in one bucket.
class gate_callers : public ensemble_case {
 public:
  static constexpr const char* gate_path = "/gate";
  static constexpr const char* bucket = "/gate/0";

  void teardown() {
    waiting.clear();
    BOOST_TEST(run_until([&] { return callers_left() == 0; }), "a caller is left");
    if (exists(gate_path)) run(zk().async_remove_with_children(gate_path, tuple));
    sessions.clear();
    ensemble_case::teardown();
  }

  static shared_gate_options single() {
    shared_gate_options made;
    made.buckets = 1;
    return made;
  }
  session& add(session by) { return sessions.emplace_back(std::move(by)); }
  session& add() { return add(connect()); }
  recorder<shared_gate_pass>& enters(const session& by, const std::string& key, arrival how = arrival::first) {
    auto& entry = waiting.emplace_back(executor());
    shared_gate(by, gate_path, single()).async_enter(key, how, entry.token());
    return entry;
  }
  /// Enters, and waits until its node stands: the order of calls of several sessions is that of their nodes.
  recorder<shared_gate_pass>& stands(const session& by, const std::string& key, arrival how = arrival::first) {
    const auto before = there();
    auto& entry = enters(by, key, how);
    BOOST_TEST_REQUIRE(run_until([&] { return entry.done() || there() > before; }));
    return entry;
  }
  std::size_t there() { return exists(bucket) ? children(bucket).size() : 0; }
  /// The nodes in the order of the line.
  std::vector<std::string> line() {
    auto all = children(bucket);
    std::ranges::sort(all, std::less(), [](const std::string& each) { return each.substr(each.size() - 10); });
    return all;
  }
  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    BOOST_TEST_REQUIRE(run_until(condition), "in vain from line " << where.line());
  }
  shared_gate_pass gets_in(recorder<shared_gate_pass>& which,
                           std::source_location where = std::source_location::current()) {
    wait([&] { return which.done(); }, where);
    BOOST_TEST_REQUIRE(!which.error(), which.error().message() << " from line " << where.line());
    return std::move(which.result<0>());
  }
  void fails(recorder<shared_gate_pass>& which, errc why,
             std::source_location where = std::source_location::current()) {
    wait([&] { return which.done(); }, where);
    BOOST_TEST((which.error() == why), which.error().message() << " from line " << where.line());
  }
  void is_empty() {
    wait([&] { return there() == 0; });
  }

  /// In all buckets.
  std::size_t callers_left() {
    std::size_t sum = 0;
    if (!exists(gate_path)) return sum;
    for (const auto& each : children(gate_path)) sum += children(std::string(gate_path) + '/' + each).size();
    return sum;
  }

  std::deque<session> sessions;
  std::deque<recorder<shared_gate_pass>> waiting;
};

}  // namespace zkrecipes::test
