// An operator's operations on a queue: its status, and dead letters that are read, revived and discarded.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "delivery/delivery_window.hpp"
#include "queue/queue_layout.hpp"
#include "source/log_source.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct asking : fake_session {
  asking() : line(zk, "/q", {.max_list_bytes = 0}) { connect(); }

  template <class Queue>
  recorder<queue_status> ask_status(Queue& which) {
    return which.async_status(begun());
  }
  recorder<std::vector<dead_letter>> ask_letters(std::size_t so_many) {
    auto made = line.async_dead_letters(begun());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < so_many; ++i) names.push_back("letter-" + std::to_string(1'000'000'000 + i));
    list(std::move(names));
    return made;
  }
  void answer_letter() {
    answer_with(
        {.data = detail::write_letter({.item = "qn-0000000001", .data = "data", .reason = "bad", .attempts = 2})});
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
  BOOST_TEST_REQUIRE(ended_with(status, errc::no_auth));

  priority_queue apart(zk, "/p");
  status = ask_status(apart);
  list({});
  CHECK_PENDING("children /p-side");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(status, errc::no_auth));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_missing_is_empty) {
  priority_queue apart(zk, "/p");
  auto status = ask_status(apart);
  list({});
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(status));
  BOOST_TEST(status.result<0>().dead == 0u);
}

BOOST_AUTO_TEST_CASE(a_status_writes_nothing) {
  auto status = ask_status(line);
  list({"qn-0000000001"});
  CHECK_PENDING("children /q/_dead");
  fail(errc::no_node);
  CHECK_PENDING("exists /q/qn-0000000001");
  answer_with(
      {.stat = {.ctime = std::chrono::floor<std::chrono::milliseconds>(now().time_since_epoch()).count() - 7'000}});
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
  BOOST_TEST_REQUIRE(succeeded(letters));
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
  BOOST_TEST_REQUIRE(ended_with(letters, errc::no_auth));
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
    BOOST_TEST_REQUIRE(ended_with(done, errc::outcome_unknown));
  }
}

BOOST_AUTO_TEST_CASE(a_letter_that_was_gone_before_is_told) {
  auto done = line.async_discard(letter, begun());
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(done, errc::no_node));
}

BOOST_AUTO_TEST_SUITE_END()

// Dead letters that keep a part of their message, because all of it is too large for a request.
namespace {

constexpr std::size_t bytes_of_request = 1'000'000;

struct large_message {
  large_message() {
    what.name = "5-1";
    what.key = "k";
    what.data.assign(3'000, 'x');
    what.attempts = 3;
    how.how = settlement::kind::park;
    how.what = &what;
    how.reason = "no";
    how.epoch = 7;
  }
  dead_letter letter() const { return letter_of(how, 4); }

  message what;
  settlement how;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_letters)

BOOST_FIXTURE_TEST_CASE(without_a_bound_a_letter_is_whole, large_message) {
  what.key.assign(2'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.item == "0004/5-1");
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
  BOOST_TEST(write_letter(made).find("missing_bytes") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(what_is_left_out_is_counted, large_message) {
  how.most_data = 1'000;
  auto made = letter();
  BOOST_TEST(made.data == std::string(1'000, 'x'));
  BOOST_TEST(made.key == "k");
  BOOST_TEST(made.reason == "no");
  BOOST_TEST(made.missing_bytes == 2'000u);
  how.most_data = 0;
  what.key.assign(5'000, 'k');
  made = letter();
  BOOST_TEST(made.data.empty());
  BOOST_TEST(made.key == std::string(1'000, 'k'));
  BOOST_TEST(made.missing_bytes == 7'000u);
}

BOOST_FIXTURE_TEST_CASE(a_bound_that_is_not_reached_leaves_it_whole, large_message) {
  how.most_data = 3'000;
  what.key.assign(1'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(it_is_stored_with_what_is_missing, large_message) {
  how.most_data = 5;
  const auto text = write_letter(letter());
  BOOST_TEST(text.ends_with(",\"missing_bytes\":2995}\nxxxxx"), text);
  const auto read = read_letter(text);
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->missing_bytes == 2'995u);
  BOOST_TEST(read->data == "xxxxx");
  BOOST_TEST(read->key == "k");
  BOOST_TEST(read->reason == "no");
  BOOST_TEST(read->epoch == 7);
}

BOOST_AUTO_TEST_CASE(a_letter_that_may_be_cut_is_not_taken_for_whole) {
  const auto with = [](const std::string& field) {
    return read_letter(R"({"zkrecipes":"dead_letter","item":"i","attempts":1,"reason":"r")" + field + "}\ndata");
  };
  BOOST_TEST_REQUIRE(with("").has_value());
  BOOST_TEST(with("")->missing_bytes == 0u);
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":0)").has_value());
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":9223372036854775807)").has_value());
  BOOST_TEST(with(R"(,"missing_bytes":9223372036854775807)")->missing_bytes == 9'223'372'036'854'775'807u);
  for (const auto* bad : {"-1", "9223372036854775808", "2.5", "\"7\"", "null"}) {
    BOOST_TEST(!with(std::string(",\"missing_bytes\":") + bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_whole_loses_its_reason_only) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, false, bytes_of_request));
  BOOST_TEST(!bounds.has_reason);
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(!bounds.shrink(false, false, bytes_of_request));
}

BOOST_AUTO_TEST_CASE(a_message_that_may_be_cut_keeps_its_reason_and_as_much_as_fits) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(bounds.shrink(false, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 2);
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 4);
}

BOOST_AUTO_TEST_CASE(it_gets_smaller_until_nothing_is_left) {
  for (const bool is_told : {true, false}) {
    letter_bounds bounds;
    auto most = bytes_of_request;
    std::size_t steps = 0;
    while (bounds.shrink(is_told && bounds.has_reason, true, bytes_of_request)) {
      BOOST_TEST_REQUIRE(++steps < 50u);
      BOOST_TEST(bounds.most_data.value_or(bytes_of_request) <= most);
      most = bounds.most_data.value_or(bytes_of_request);
    }
    BOOST_TEST(bounds.most_data.value() == 0u);
    BOOST_TEST(bounds.has_reason == !is_told);
  }
}

BOOST_AUTO_TEST_SUITE_END()
