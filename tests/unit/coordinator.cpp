// The coordinator on a session whose answers the test writes. `tests/ensemble/term_*.cpp` run it on real servers.
#include <functional>
#include <stdexcept>

#include "election/term_record.hpp"
#include "session/outcomes.hpp"
#include "unit/coordinating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The record says that the term before was not handed over.
struct waiting_for_predecessor : working {
  waiting_for_predecessor() {
    detail::term_record before;
    before.epoch = 3;
    before.phase = term_phase::executing;
    before.hand_over_deadline = 5s;
    before.leader_node = "gone";
    data = detail::serialize(before);
  }
  backend::request answer_cut_short() {
    backend::reply done;
    done.results.resize(3);
    done.results[0].stat.version = 1;
    done.results[1].stat.version = 2;
    return answer(done);
  }
};

/// The record was written by a later version, in a phase and with a field that this version does not know.
struct after_a_later_version : waiting_for_predecessor {
  after_a_later_version() {
    data.replace(data.find("executing"), 9, "draining");
    data.insert(1, R"("later":[1],)");
  }
  static std::string later(const std::string& record) {
    const auto read = detail::parse_record(record);
    return read ? read->unknown_fields.raw("later") : "no record";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinators, fake_session)

BOOST_AUTO_TEST_CASE(one_that_takes_another_over_stops_its_own_at_once) {
  connect();
  quiet_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  consumer_coordinator other(zk, "/f", {"me"});
  auto running = mine.async_run(career, begun());
  BOOST_TEST(!running.done());
  mine = std::move(other);
  settle();
  BOOST_TEST_REQUIRE(succeeded(running));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(coordinator_states, working)

BOOST_AUTO_TEST_CASE(the_phases_of_a_run_are_told) {
  const auto phase = [this] { return std::string(to_string(coordinator.status().phase)); };
  BOOST_TEST(phase() == "campaigning");
  BOOST_TEST(!coordinator.status().ahead);
  serve_until("multi /");
  BOOST_TEST(phase() == "taking_over");
  BOOST_TEST_REQUIRE(coordinator.status().ahead.has_value());
  BOOST_TEST(*coordinator.status().ahead == 0u);
  BOOST_TEST(coordinator.status().epoch == 0);
  const auto before = coordinator.status().since;
  advance(50ms);
  data = last().pending.front().first.operations.front().data;
  serve();
  BOOST_TEST(phase() == "inaugurating");
  BOOST_TEST((coordinator.status().since == before + 50ms));
  BOOST_TEST(coordinator.status().epoch == 1);
  BOOST_TEST(coordinator.status().leader == "me");
  serve_until("get /q/" + item);
  BOOST_TEST(phase() == "executing");
  coordinator.stop();
  settle();
  BOOST_TEST(phase() == "ending", "there was no message in hand");
  serve_until("none");
  BOOST_TEST_REQUIRE(running.done());
  BOOST_TEST(phase() == "idle");
  BOOST_TEST(!coordinator.status().ahead);
  BOOST_TEST(coordinator.status().epoch == 1, "the term that was last seen");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(waiting_coordinators, waiting_for_predecessor)

BOOST_AUTO_TEST_CASE(the_term_of_another_is_told) {
  serve_until("get /e");
  serve_until("set /e/" + own);
  BOOST_TEST((coordinator.status().phase == coordinator_phase::taking_over));
  BOOST_TEST(coordinator.status().epoch == 3);
}

BOOST_AUTO_TEST_SUITE_END()

// A throttling server answers with an error, and answers the next try normally.
BOOST_FIXTURE_TEST_SUITE(refused_coordinators, working)

BOOST_AUTO_TEST_CASE(a_refused_take_over_is_tried_again_from_the_same_place) {
  serve_until("multi /");
  fail(errc::server_error);  // this write went by what was known of the record; now the record is read
  refuse("multi /");
  BOOST_TEST(entries == 1);
}

BOOST_AUTO_TEST_CASE(a_refused_list_of_the_queue_is_read_again) { refuse("children /q"); }

BOOST_AUTO_TEST_CASE(a_refused_message_is_read_again) { refuse("get /q/" + item); }

BOOST_AUTO_TEST_CASE(a_refused_commit_is_done_again) {
  serve_until("get /q/" + item);
  answer();
  refuse("multi /");
}

// A server that is busy for longer than the session timeout must not end a term: the place in line stands, and only the
// end of the lease would end the term.
BOOST_AUTO_TEST_CASE(a_term_outlasts_a_server_that_will_not_have_its_record_written) {
  serve_until("multi /");
  data = last().pending.front().first.operations.front().data;
  serve();  // the coordinator leads now
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    while (!last().pending.empty()) {
      const auto& operations = last().pending.front().first.operations;
      const bool writes = !operations.empty() && operations.front().type == operation::kind::set;
      refused += writes;
      writes ? void(throttle()) : serve();
    }
    advance(100ms);
  }
  BOOST_TEST(refused > 5);
  for (int i = 0; i < 50 && next_request() != "get /q/" + item; ++i) {
    serve_until("get /q/" + item);
    if (next_request().empty()) advance(100ms);
  }
  BOOST_TEST(next_request() == "get /q/" + item);
  BOOST_TEST(entries == 1);
  BOOST_TEST(!running.done());
}

BOOST_AUTO_TEST_CASE(whoever_stops_is_heard_while_a_server_refuses) {
  for (int i = 0; i < 2; ++i) {
    serve_until("multi /");
    fail(errc::server_error);
  }
  coordinator.stop();
  settle();
  serve_until("none");
  BOOST_TEST_REQUIRE(succeeded(running));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(successors, waiting_for_predecessor)

BOOST_AUTO_TEST_CASE(a_request_to_resign_is_not_overwritten_by_who_waits) {
  serve_until("get /e");  // our own node has been created
  serve_until("set /e/" + own);
  BOOST_TEST_REQUIRE(next_request() == "set /e/" + own);
  const auto& shown = last().pending.front().first;
  BOOST_TEST(detail::is_awaiting(shown.data));
  BOOST_TEST(shown.version == 0, "what somebody has written since we made the node stays");
  fail(errc::bad_version);
  serve_until("none");
  BOOST_TEST(!running.done());
}

// This forced take-over must write the record twice. A candidate that saw `handing_over` would take a single write for
// the `retired` of the leader before.
BOOST_AUTO_TEST_CASE(a_term_that_is_cut_short_ends_with_two_writes) {
  for (int i = 0; i < 100 && next_request() != "multi /"; ++i) {
    serve_until("multi /");
    if (next_request().empty()) advance(100ms);
  }
  BOOST_TEST_REQUIRE(next_request() == "multi /");
  const auto taken_over = answer_cut_short();
  BOOST_TEST_REQUIRE(taken_over.operations.size() == 3u);
  BOOST_TEST(taken_over.operations[0].version == 0);
  BOOST_TEST(taken_over.operations[1].version == 1);
  BOOST_TEST(taken_over.operations[1].data == taken_over.operations[0].data);
  BOOST_TEST_REQUIRE(next_request() == "multi /");
  BOOST_TEST(last().pending.front().first.operations.at(0).version == 2, "the term goes on from the second");
}

BOOST_AUTO_TEST_CASE(a_refused_look_at_the_record_is_done_again) {
  serve_until("get /e");  // this read of the record is sent along with the create of our own node
  serve();
  refuse("get /e");
  BOOST_TEST(entries == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(later_versions, after_a_later_version)

// As after any term that is not finished: the deadline is waited out, and the term is cut short by two writes.
BOOST_AUTO_TEST_CASE(a_term_in_an_unknown_phase_is_taken_over_by_force_after_its_deadline) {
  serve_until("set /e/" + own);
  const auto since = now();
  for (int i = 0; i < 100 && next_request() != "multi /"; ++i) {
    serve_until("multi /");
    if (next_request().empty()) advance(100ms);
  }
  BOOST_TEST((now() - since >= 4900ms), "the deadline is five seconds");
  const auto taken_over = answer_cut_short();
  BOOST_TEST_REQUIRE(taken_over.operations.size() == 3u);
  const auto& written = taken_over.operations[0].data;
  BOOST_TEST((detail::parse_record(written)->how == takeover::forced));
  BOOST_TEST(detail::parse_record(written)->epoch == 4);
  BOOST_TEST(later(written) == "[1]");
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_kept_by_every_write_also_those_that_come_later) {
  for (int i = 0; i < 100 && next_request() != "multi /"; ++i) {
    serve_until("multi /");
    if (next_request().empty()) advance(100ms);
  }
  data = answer_cut_short().operations.at(0).data;
  BOOST_TEST_REQUIRE(next_request() == "multi /");
  const auto executing = last().pending.front().first.operations.at(0).data;
  BOOST_TEST((detail::parse_record(executing)->phase == term_phase::executing));
  BOOST_TEST(later(executing) == "[1]");
  data.replace(data.find("[1]"), 3, "[2]");  // somebody writes into the record of our term
  fail(errc::bad_version);
  BOOST_TEST_REQUIRE(next_request() == "get /e");
  serve();
  BOOST_TEST_REQUIRE(next_request() == "multi /");
  BOOST_TEST(later(last().pending.front().first.operations.at(0).data) == "[2]");
}

BOOST_AUTO_TEST_SUITE_END()

// Runs of a coordinator: which begin, and which signal stops which of them.

namespace {

/// The second look at its properties, with which a run begins, fails; something else happens meanwhile.
struct failing_career : quiet_career {
  career_traits traits() const override {
    if (looks++ == 0) return {};
    meanwhile();
    throw std::runtime_error("no properties");
  }
  std::function<void()> meanwhile;
  mutable int looks = 0;
};

/// The first look at its properties is good, the second, with which a run begins, is not.
struct fickle_career : quiet_career {
  career_traits traits() const override {
    career_traits told;
    if (looks++ == 1) told.hand_over_deadline = 48h;
    return told;
  }
  mutable int looks = 0;
};

/// The record is that of a finished term with this epoch.
struct after_epoch : working {
  explicit after_epoch(std::int64_t epoch) {
    detail::term_record before;
    before.epoch = epoch;
    before.phase = term_phase::retired;
    data = detail::serialize(before);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinator_runs, fake_session)

BOOST_AUTO_TEST_CASE(a_stop_of_a_run_that_does_not_begin_is_not_left_to_the_next_one) {
  connect();
  failing_career troubled;
  consumer_coordinator mine(zk, "/e", {"me"});
  troubled.meanwhile = [&] {
    mine.stop();
    settle();
  };
  auto failed = mine.async_run(troubled, begun());
  BOOST_TEST_REQUIRE(ended_with(failed, errc::career_failed));
  quiet_career career;
  auto running = mine.async_run(career, begun());
  BOOST_TEST(!running.done());
}

// Nobody could read the record of such a term.
BOOST_AUTO_TEST_CASE(properties_that_are_out_of_bounds_when_the_run_begins_are_refused) {
  connect();
  fickle_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto refused = mine.async_run(career, begun());
  BOOST_TEST_REQUIRE(ended_with(refused, errc::career_failed));
  BOOST_TEST_REQUIRE((mine.failure() != nullptr));
  BOOST_CHECK_EXCEPTION(std::rethrow_exception(mine.failure()), std::invalid_argument, [](const auto& problem) {
    return std::string(problem.what()).starts_with("career_traits::hand_over_deadline");
  });
  auto running = mine.async_run(career, begun());
  BOOST_TEST(!running.done());
}

BOOST_AUTO_TEST_CASE(a_signal_of_an_earlier_run_does_not_stop_a_later_one) {
  connect();
  quiet_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto before = mine.async_run(career, begun());
  mine.stop();
  settle();
  BOOST_TEST_REQUIRE(before.done());
  auto running = mine.async_run(career, begun());
  before.cancel();
  settle();
  BOOST_TEST(!running.done());
  mine.stop();
  settle();
  BOOST_TEST(running.done());
}

// Nobody could read the record of the term after it.
BOOST_AUTO_TEST_CASE(no_term_follows_the_last_epoch) {
  after_epoch before_it(detail::last_epoch - 1);
  before_it.serve_until("multi /");
  BOOST_TEST_REQUIRE(before_it.next_request() == "multi /");
  const auto next = detail::parse_record(before_it.last().pending.front().first.operations.at(0).data);
  BOOST_TEST_REQUIRE(next.has_value());
  BOOST_TEST(next->epoch == detail::last_epoch);
  after_epoch at_the_end(detail::last_epoch);
  at_the_end.serve_until("multi /");
  BOOST_TEST(at_the_end.next_request() != "multi /");
  at_the_end.serve_until("none");
  BOOST_TEST_REQUIRE(ended_with(at_the_end.running, errc::foreign_data));
}

// Each place would be lost at once, and the client would send without end.
BOOST_AUTO_TEST_CASE(the_line_is_entered_again_when_a_strict_lease_holds_again) {
  auto options = usual();
  options.lease = lease_mode::strict;
  working it(std::move(options));
  it.serve_until("");
  BOOST_TEST_REQUIRE(it.entries == 1);
  it.advance(12s);
  constexpr int most_answers = 200;
  const auto serve_all = [&] {
    for (int i = 0; i < most_answers && it.next_request() != ""; ++i) it.serve();
  };
  serve_all();
  BOOST_TEST(it.entries <= 2);
  for (int i = 0; i < 20; ++i) {
    it.advance(500ms);
    serve_all();
  }
  BOOST_TEST((it.zk.valid_until() > it.now()));
  BOOST_TEST((it.coordinator.status().phase == coordinator_phase::executing));
  BOOST_TEST(it.entries <= 3);
}

BOOST_AUTO_TEST_SUITE_END()

// Which errors end a run that goes on by itself.

BOOST_AUTO_TEST_SUITE(mending)

BOOST_AUTO_TEST_CASE(each_error_passes_by_or_is_mended_by_people_or_ends_the_run) {
  for (const auto each : {errc::connection_loss, errc::session_expired, errc::lease_lapsed, errc::node_removed,
                          errc::revoked, errc::server_error}) {
    BOOST_TEST(detail::mends(make_error_code(each), false), make_error_code(each).message());
  }
  for (const auto each : {errc::no_auth, errc::no_node, errc::no_children_for_ephemerals, errc::invalid_acl}) {
    BOOST_TEST(!detail::mends(make_error_code(each), false), make_error_code(each).message());
    BOOST_TEST(detail::mends(make_error_code(each), true), make_error_code(each).message());
  }
  for (const auto each : {errc::closed, errc::auth_failed, errc::foreign_data, errc::size_mismatch, errc::too_large,
                          errc::sequence_exhausted, errc::bad_arguments}) {
    BOOST_TEST(!detail::mends(make_error_code(each), true), make_error_code(each).message());
  }
  BOOST_TEST(detail::mends({}, false));
  BOOST_TEST(!detail::mends(asio::error::operation_aborted, true));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(coordinator_refusals, working)

BOOST_AUTO_TEST_CASE(a_coordinator_that_was_in_line_waits_for_its_rights_and_tells_it) {
  for (int i = 0; i < 2; ++i) {  // as the record is known, and once more when it was read
    serve_until("multi /");
    fail(errc::no_auth);
    settle();
  }
  serve_until("");
  BOOST_TEST_REQUIRE(!running.done());
  BOOST_TEST((coordinator.status().trouble == errc::no_auth));
  const auto before = entries;
  advance(10s);
  serve_until("multi /");
  BOOST_TEST(entries > before);
  BOOST_TEST(!coordinator.status().trouble);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(coordinator_first_refusals, fake_session)

BOOST_AUTO_TEST_CASE(a_coordinator_that_was_never_in_line_ends_with_the_refusal) {
  connect();
  quiet_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto running = mine.async_run(career, begun());
  while (!last().pending.empty() && !running.done()) fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(running, errc::no_auth));
}

BOOST_AUTO_TEST_SUITE_END()
