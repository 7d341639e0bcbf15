// A candidate that gets in the line of an election, in the fake world.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct in_line : fake_session {
  in_line() : vote(zk, "/e", {"me"}), campaign(record<ownership>()) {
    connect();
    vote.async_campaign(campaign.token());
    settle();
  }

  /// The server creates the node that was asked for, with this number.
  void create(int sequence) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    const auto& asked = last().pending.front().first;
    BOOST_TEST_REQUIRE((asked.op == backend::opcode::create), to_string(asked.op));
    own = asked.path.substr(3) + digits(sequence);
    backend::reply made;
    made.path = "/e/" + own;
    made.stat.czxid = std::int64_t{100} + sequence;
    made.stat.ephemeral_owner = 0x77;
    answer(made);
  }
  /// Answers every pending read of our own node.
  void own_node_is_there() {
    while (!pending().empty() && pending().front() == "get /e/" + own) answer();
  }
  /// Somebody writes this data to our own node, for example a request to give it up.
  void ask(const std::string& data) {
    fire(backend::change::data, "/e/" + own);
    BOOST_TEST_REQUIRE(pending() == strings{"get /e/" + own}, boost::test_tools::per_element());
    backend::reply asked;
    asked.data = data;
    answer(asked);
  }
  /// Becomes the owner and releases; the remove request stays unanswered.
  recorder<> release() {
    create(7);
    list({own});
    own_node_is_there();
    auto released = record<>();
    campaign.result<0>().async_release(released.token());
    settle();
    return released;
  }
  /// Time passes while the server answers the heartbeats.
  void live(std::chrono::nanoseconds span) {
    const auto until = now() + span;
    while (now() < until) {
      advance(std::min<std::chrono::nanoseconds>(1s, until - now()));
      while (!pending().empty() && pending().front() == "exists /") answer();
    }
  }
  error_code commit(transaction what) {
    auto committing = record<std::vector<operation_result>>();
    zk.async_commit(std::move(what), committing.token());
    settle();
    BOOST_TEST_REQUIRE(committing.done(), "it has been sent");
    return committing.error();
  }
  static std::string digits(int sequence) {
    auto text = std::to_string(sequence);
    return std::string(10 - text.size(), '0') + text;
  }

  std::string own;
  election vote;
  recorder<ownership> campaign;
};

}  // namespace zkrecipes::test
