// An operator's operations on a queue: its status, and dead letters that are read, revived and discarded.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "queue/dead_letter.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct asking : fake_session {
  asking() : line(zk, "/q", {.max_list_bytes = 0}) { connect(); }

  template <class Queue>
  recorder<queue_status> ask_status(Queue& which) {
    auto made = record<queue_status>();
    which.async_status(made.token());
    settle();
    return made;
  }
  recorder<std::vector<dead_letter>> ask_letters(std::size_t so_many) {
    auto made = record<std::vector<dead_letter>>();
    line.async_dead_letters(made.token());
    settle();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < so_many; ++i) names.push_back("letter-" + std::to_string(1'000'000'000 + i));
    list(std::move(names));
    return made;
  }
  void answer_letter() {
    backend::reply found;
    found.data = detail::write_letter({.item = "qn-0000000001", .data = "data", .reason = "bad", .attempts = 2});
    answer(found);
  }
  queue line;
};

const dead_letter letter{.name = "letter-0000000001", .item = "qn-0000000001", .data = "data", .reason = {}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_letters, asking)

BOOST_AUTO_TEST_CASE(a_list_that_can_not_be_read_is_not_taken_for_empty) {
  auto status = ask_status(line);
  list({});
  CHECK_PENDING("children /q/_dead");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(status.done());
  BOOST_TEST((status.error() == errc::no_auth));

  priority_queue apart(zk, "/p");
  status = ask_status(apart);
  list({});
  CHECK_PENDING("children /p-side");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(status.done());
  BOOST_TEST((status.error() == errc::no_auth));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_missing_is_empty) {
  priority_queue apart(zk, "/p");
  auto status = ask_status(apart);
  list({});
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(status.done());
  BOOST_TEST(!status.error());
  BOOST_TEST(status.result<0>().dead == 0u);
}

BOOST_AUTO_TEST_CASE(a_status_writes_nothing) {
  auto status = ask_status(line);
  list({"qn-0000000001"});
  CHECK_PENDING("children /q/_dead");
  fail(errc::no_node);
  CHECK_PENDING("exists /q/qn-0000000001");
  backend::reply first;
  first.stat.ctime = std::chrono::floor<std::chrono::milliseconds>(now().time_since_epoch()).count() - 7'000;
  answer(first);
  BOOST_TEST_REQUIRE(status.done(), "without a request that writes");
  BOOST_TEST(!status.error());
  BOOST_TEST((status.result<0>().oldest == 7s));
}

BOOST_AUTO_TEST_CASE(letters_are_read_a_hundred_at_once) {
  auto letters = ask_letters(250);
  for (std::size_t batch : {100, 100, 50}) {
    BOOST_TEST_REQUIRE(pending().size() == batch);
    fail(errc::no_node);  // this letter was revived meanwhile
    for (std::size_t i = 1; i < batch; ++i) answer_letter();
  }
  BOOST_TEST_REQUIRE(letters.done());
  BOOST_TEST(!letters.error());
  const auto& found = letters.result<0>();
  BOOST_TEST_REQUIRE(found.size() == 247u);
  BOOST_TEST(found.front().name == "letter-1000000001");
  BOOST_TEST(found.back().name == "letter-1000000249");
  BOOST_TEST(found.back().reason == "bad");
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_ends_it) {
  auto letters = ask_letters(250);
  answer_letter();
  fail(errc::no_auth);
  for (int i = 2; i < 100; ++i) answer_letter();
  BOOST_TEST_REQUIRE(letters.done());
  BOOST_TEST((letters.error() == errc::no_auth));
  BOOST_TEST(letters.result<0>().size() == 1u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_letter_that_has_gone_after_a_lost_reply_may_have_been_taken_by_us) {
  for (bool discards : {true, false}) {
    auto done = record<>();
    discards ? line.async_discard(letter, done.token()) : line.async_revive(letter, done.token());
    settle();
    const auto asked = discards ? "remove /q/_dead/letter-0000000001" : "multi /";
    CHECK_PENDING(asked);
    reconnect();
    CHECK_PENDING(discards ? asked : "exists /q/_dead/letter-0000000001");
    fail(errc::no_node);
    BOOST_TEST_REQUIRE(done.done());
    BOOST_TEST((done.error() == errc::outcome_unknown));
  }
}

BOOST_AUTO_TEST_CASE(a_letter_that_was_gone_before_is_told) {
  auto done = record<>();
  line.async_discard(letter, done.token());
  settle();
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(done.done());
  BOOST_TEST((done.error() == errc::no_node));
}

BOOST_AUTO_TEST_SUITE_END()
