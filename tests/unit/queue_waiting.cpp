// Several who wait for an item through one object: whoever gives up leaves what there is to the others.
#include "unit/fake_session.hpp"

#include <zkrecipes/queue.hpp>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct waiting_takers : fake_session {
  waiting_takers() : line(zk, "/q") { connect(); }

  recorder<message> pop() {
    auto made = record<message>();
    line.async_pop(made.token());
    settle();
    return made;
  }
  /// Answers all but what is asked of an item.
  void serve(const strings& items) {
    for (auto asked = next_request(); !asked.empty() && asked != "get /q/" + one; asked = next_request()) {
      if (asked == "children /q") {
        list(items);
      } else if (asked == "children /q/_idle") {
        list({seat});
      } else if (asked.starts_with("create ")) {
        sit_down();
      } else {
        answer();
      }
    }
  }
  std::string next_request() { return last().pending.empty() ? "" : pending().front(); }
  void sit_down() {
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    seat = made.path.substr(std::string("/q/_idle/").size());
    answer(made);
  }

  const std::string one = "qn-0000000001";
  std::string seat;
  queue line;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_waiters, waiting_takers)

BOOST_AUTO_TEST_CASE(what_a_cancelled_pop_had_in_view_goes_to_who_still_waits) {
  auto first = pop();
  auto second = pop();
  serve({});
  BOOST_TEST(!seat.empty(), "they wait in line");
  fire(backend::change::children, "/q");
  settle();
  serve({one});
  CHECK_PENDING("get /q/" + one);
  first.cancel();  // in order of arrival: it is the one who asks
  settle();
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(!second.done());
  answer();  // to the one who has gone; nothing has changed on the server
  serve({one});
  BOOST_TEST_REQUIRE(!pending().empty());
  BOOST_TEST(pending().front() == "get /q/" + one);
  second.cancel();
  settle();
  serve({one});
}

BOOST_AUTO_TEST_SUITE_END()
