// A campaigner in an election, and a fixture with a line of them.
#pragma once

#include <deque>
#include <string>

#include <zkrecipes/election.hpp>

#include "ensemble/ensemble_case.hpp"

namespace zkrecipes::test {

struct campaigner {
  campaigner(fixture& of, session over, std::string id)
      : zk(std::move(over)), contest(zk, "/e", {.id = std::move(id)}), result(of.executor()) {}

  void start() { contest.async_campaign(result.token()); }
  bool leads() const { return result.done() && !result.error(); }
  ownership& held() { return result.result<0>(); }

  session zk;
  election contest;
  recorder<ownership> result;
};

class line_fixture : public ensemble_case {
 public:
  line_fixture() { create("/e"); }
  void teardown() {
    run_until([&] { return in_line() == 0; }, 10s);
    dismiss();
    remove("/e");  // throws, which fails the case, if somebody was left in line while the sessions lived
    ensemble_case::teardown();
  }

  std::size_t in_line() { return children("/e").size(); }

  /// Adds a campaigner at the end of the line.
  campaigner& join(session over) {
    const auto before = in_line();
    auto& last = all_.emplace_back(*this, std::move(over), "c" + std::to_string(all_.size()));
    last.start();
    BOOST_TEST_REQUIRE(run_until([&] { return last.result.done() || in_line() > before; }));
    return last;
  }
  campaigner& join() { return join(connect()); }

  void release(campaigner& who) {
    auto result = run(who.held().async_release(tuple));
    BOOST_TEST(!std::get<0>(result), std::get<0>(result).message());
  }

  /// Drops all campaigners, and their sessions with them.
  void dismiss() { all_.clear(); }

 private:
  std::deque<campaigner> all_;
};

}  // namespace zkrecipes::test
