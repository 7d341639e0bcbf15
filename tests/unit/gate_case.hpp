// A queue with a limit, whose gate the test answers for.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/gate.hpp>
#include <zkrecipes/queue.hpp>

#include "gate/gate.hpp"
#include "support/coroutine.hpp"
#include "support/fake_world.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

// A gate in virtual time, and its callers.

using entrant = recorder<gate_pass>;

struct entering : fake_bench {
  gate make_gate(gate_options options = {}) { return gate(detail::gate_state::make(make_scheduler(), options)); }

  entrant begin(gate& into, std::string_view key) {
    entrant made(io().get_executor());
    into.async_enter(key, made.token());
    return made;
  }
  entrant enter(gate& into, std::string_view key) {
    auto made = begin(into, key);
    settle();
    return made;
  }
  void leave(entrant& who) {
    who.result<0>().leave();
    settle();
  }
  std::size_t timers() { return state().timers.size(); }

  static bool is_in(entrant& who) { return who.done() && !who.error() && who.result<0>().valid(); }
  static bool is_evicted(entrant& who) { return who.done() && !who.error() && !who.result<0>().valid(); }
  static bool is_declined(const entrant& who) { return who.done() && who.error() == errc::declined; }
  static bool is_cancelled(const entrant& who) { return who.done() && who.error() == asio::error::operation_aborted; }
};

struct gate_case : fake_session {
  const std::string item = "/q/qn-";

  gate_case() { connect(); }

  recorder<std::string> put(queue into, const std::string& data = "x") { return into.async_put(data, begun()); }
  static std::string ticket(int number) {
    return "/q/_gate/_c_guid-t-" + std::string(number < 10 ? "000000000" : "00000000") + std::to_string(number);
  }
  /// Answers the oldest request, a transaction, with `others` results without a path, followed by these tickets.
  backend::request answer_made(std::size_t others, std::initializer_list<int> tickets) {
    backend::reply made;
    made.results.resize(others);
    for (int each : tickets) made.results.push_back({{}, ticket(each), {}});
    return answer(made);
  }
  void answer_stat(std::int32_t children, std::int32_t issued = 0) {
    answer_with({.stat = {.cversion = static_cast<std::int32_t>(2 * static_cast<std::uint32_t>(issued)) - children,
                          .num_children = children}});
  }
  /// Answers a list of the gate: these tickets are out, and `issued` were ever drawn.
  void list_tickets(std::initializer_list<int> out, std::int32_t issued) {
    backend::reply seen;
    for (int each : out) seen.children.push_back(ticket(each).substr(std::string("/q/_gate/").size()));
    seen.stat.num_children = static_cast<std::int32_t>(out.size());
    seen.stat.cversion = 2 * issued - seen.stat.num_children;
    answer(seen);
  }
  /// Our draw gets the first ticket ever. The queue holds nothing but the gate.
  void admit_first() {
    CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
    answer_made(0, {0});
    answer_stat(1, 1);
    answer_stat(1);
  }
  void make_gate_and_put() {
    CHECK_PENDING("create /q");
    answer();
    CHECK_PENDING("create /q", "create /q/_gate");
    answer();
    answer();
    admit_first();
    answer_made(2, {});
  }
  /// Answers requests. True: the ticket `drawn`, whose number was lost with the reply, is looked for and removed.
  bool is_removed(const std::string& drawn) {
    bool is_looked_for = false;
    for (int i = 0; i < 10 && !pending().empty(); ++i) {
      if (pending().front() == "children /q/_gate") {
        is_looked_for = true;
        list({drawn.substr(drawn.rfind('/') + 1) + "0000000007"});
      } else if (pending().front() == "remove " + drawn + "0000000007") {
        return is_looked_for;
      } else {
        pending().front() == "multi /" ? answer_made(0, {8}) : answer();
      }
    }
    return false;
  }
  static std::vector<std::string> paths_of(const backend::request& what) {
    std::vector<std::string> all;
    for (const auto& each : what.operations) all.push_back(each.path);
    return all;
  }
};

}  // namespace zkrecipes::test
