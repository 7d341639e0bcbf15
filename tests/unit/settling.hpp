// An item that was taken and is to be settled; the test answers the requests.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/queue.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct settling : fake_session {
  const std::string one = "qn-0000000001";
  const std::string claim = "/q/_claim-" + one;

  settling() : line(zk, "/q") {
    connect();
    take();
  }
  void take() {
    auto taken = line.async_take(begun());
    list({one});
    list({one});
    answer();
    answer_data("data");
    item = taken.result<0>();
  }
  recorder<> acknowledge(transaction effects = {}) { return line.async_acknowledge(item, std::move(effects), begun()); }
  /// Takes the item again with a claim of its own, while the oldest request, the settlement by the earlier claim, is in
  /// flight. Returns that request, without an answer.
  auto take_again() {
    auto again = line.async_take(begun());
    CHECK_PENDING("multi /", "children /q");
    auto ending = std::move(last().pending.front());
    last().pending.pop_front();
    list({one});
    while (!pending().empty() && pending().front() == "children /q") list({one});
    CHECK_PENDING("multi /", "get /q/" + one);
    answer();
    answer_with({.stat = {.pzxid = 8}});
    BOOST_TEST_REQUIRE(again.done());
    return ending;
  }
  /// Does the same, and then loses the reply to that settlement, so that the claim is read for its mark. Returns the
  /// mark.
  std::string take_again_and_lose_reply() {
    const auto ending = take_again();
    last().pending.push_front(ending);
    reconnect();
    while (!pending().empty() && pending().front() != "get " + claim) answer();
    CHECK_PENDING("get " + claim);
    return ending.first.operations.at(0).data;
  }
  /// Gives the item back while its acknowledgement is in flight, and loses both replies. Each read of the claim finds
  /// none; the next pending request asks whether the item still exists.
  recorder<> acknowledge_and_give_back(const transaction& effects) {
    auto done = acknowledge(effects);
    auto returned = line.async_return(item, begun());
    reconnect();
    const auto look = "exists /q/" + one;
    while (!pending().empty() && pending().front() != look) fail(errc::no_node);
    BOOST_TEST_REQUIRE(!pending().empty());
    return done;
  }
  backend::request answer_data(std::string data) { return answer_with({.data = std::move(data)}); }
  /// Refuses the oldest request, a transaction, because its claim (`place` 0) or its item (`place` 1) has gone.
  void fail_at(std::size_t place) {
    backend::reply refused;
    refused.error = errc::no_node;
    refused.results.assign(3, {errc::rolled_back, {}, {}});
    refused.results[place].error = errc::no_node;
    answer(refused);
  }

  queue line;
  message item;
  const transaction effect_a = transaction().create("/effect-a");
  const transaction effect_b = transaction().create("/effect-b");
};

}  // namespace zkrecipes::test
