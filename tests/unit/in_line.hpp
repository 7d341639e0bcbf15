// A candidate that gets in the line of an election, in the fake world.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
    answer_with({.path = "/e/" + own, .stat = {.czxid = std::int64_t{100} + sequence, .ephemeral_owner = 0x77}});
  }
  /// Answers every pending read of our own node.
  void own_node_is_there() {
    while (!pending().empty() && pending().front() == "get /e/" + own) answer();
  }
  /// Somebody writes this data to our own node, for example a request to give it up.
  void ask(const std::string& data) {
    fire(backend::change::data, "/e/" + own);
    BOOST_TEST_REQUIRE(pending() == strings{"get /e/" + own}, boost::test_tools::per_element());
    answer_with({.data = data});
  }
  /// Its node is created, and is the only one.
  void lead() {
    create(7);
    list({own});
    own_node_is_there();
  }
  /// Becomes the owner and releases; the remove request stays unanswered.
  recorder<> release() {
    lead();
    return campaign.result<0>().async_release(begun());
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
    auto committing = zk.async_commit(std::move(what), begun());
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
