// A caller at the gate of many processes, in the fake world.
#pragma once

#include <algorithm>
#include <string>

#include <zkrecipes/flow/shared_gate.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct shared_gate_case : fake_session {
  shared_gate_case() : gate(zk, "/g", options()), entry(record<shared_gate_pass>()) { connect(); }

  static constexpr const char* record_of_one = R"({"zkrecipes":"shared_gate","buckets":1})";

  static shared_gate_options options() {
    shared_gate_options made;
    made.buckets = 1;
    made.safety = 1h;
    return made;
  }
  /// The gate has been made before; this object looks at it first.
  void enter(arrival how = arrival::first) {
    gate.async_enter("k", how, why, entry.token());
    settle();
    look();
    tell(record_of_one);
  }
  /// The object looks at the node, behind a catch-up.
  void look() {
    CHECK_PENDING("multi /", "get /g");
    answer();
  }
  /// The data of the node that was asked for.
  backend::request tell(std::string data, std::int32_t version = 0, std::int64_t czxid = 0) {
    return answer_with({.data = std::move(data), .stat = {.czxid = czxid, .version = version}});
  }
  /// The server creates the node that was asked for, with this number.
  void create(int sequence) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    const auto& asked = last().pending.front().first;
    BOOST_TEST_REQUIRE((asked.op == backend::opcode::create), to_string(asked.op));
    prefix = asked.path.substr(5);
    own = prefix + digits(sequence);
    answer_with({.path = "/g/0/" + own, .stat = {.czxid = std::int64_t{100} + sequence, .ephemeral_owner = 0x77}});
  }
  void own_node_is_there() {
    while (!pending().empty() && pending().front() == "get /g/0/" + own) answer();
  }
  /// Another caller of the same key.
  std::string other(const std::string& guid, int sequence, const std::string& how = "first") const {
    const auto hash = prefix.substr(prefix.find("-gate-") - 6 - 32, 32);  // "-first" is as long as "-again"
    return "_c_" + guid + "-" + hash + "-" + how + "-gate-" + digits(sequence);
  }
  /// Enters, and finds two others ahead.
  void enter_third(arrival how = arrival::first) {
    enter(how);
    create(7);
    list({other("a", 4), other("b", 5), own});
    own_node_is_there();
  }
  /// Time passes while the server answers the heartbeats.
  void live(std::chrono::nanoseconds span) {
    const auto until = now() + span;
    while (now() < until) {
      advance(std::min<std::chrono::nanoseconds>(1s, until - now()));
      while (!pending().empty() && pending().front() == "exists /") answer();
    }
  }
  static std::string digits(int sequence) {
    auto text = std::to_string(sequence);
    return std::string(10 - text.size(), '0') + text;
  }
  /// The transaction that declines has been sent; returns the paths of its operations.
  strings declining() {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    const auto& asked = last().pending.front().first;
    BOOST_TEST_REQUIRE((asked.op == backend::opcode::multi), to_string(asked.op));
    strings paths;
    for (const auto& each : asked.operations) paths.push_back(each.path);
    return paths;
  }
  /// The transaction fails at this operation.
  void refuse_at(std::size_t which) {
    backend::reply refused;
    refused.error = errc::no_node;
    refused.results.resize(3);
    for (auto& each : refused.results) each.error = errc::rolled_back;
    refused.results[which].error = errc::no_node;
    answer(refused);
  }

  shared_gate gate;
  recorder<shared_gate_pass> entry;
  diagnostic why;
  std::string prefix, own;
};

}  // namespace zkrecipes::test
