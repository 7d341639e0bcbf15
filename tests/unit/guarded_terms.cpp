// A take-over beside a guardian: it is told of the term before the record is written, and is not told otherwise by a
// further try.
#include "unit/coordinating.hpp"
#include "unit/guardian_talk.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(guarded_terms)

/// The first try is refused, because somebody else has written the record, and the second one is done although its
/// reply is lost.
BOOST_AUTO_TEST_CASE(a_term_that_begins_at_the_third_try_is_told_once_and_stays) {
  working zk(guarded_options());
  auto& guardian = *zk.state().guardians.back();
  guardian.listener->guardian_up();
  zk.serve_until("multi /");
  zk.fail(errc::bad_version);
  zk.serve_until("multi /");
  BOOST_TEST_REQUIRE(zk.next_request() == "multi /");
  zk.data = zk.last().pending.front().first.operations.front().data;
  zk.fail(errc::connection_loss);
  zk.connect(0x77);
  zk.serve_until("multi /");
  strings heard;
  for (const auto& each : guardian.heard) heard.push_back(std::visit(shown(), each));
  const auto own = zk.own;
  CHECK_TEXTS(heard, "hello", "session 0x77", "complete", "term 0x77 /e " + own + " /e/" + own);
}

BOOST_AUTO_TEST_SUITE_END()
