// The parts of a session, each without the others that it does not need.
#include <list>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "session/connector.hpp"
#include "session/credentials.hpp"
#include "session/lease_keeper.hpp"
#include "session/operation.hpp"
#include "session/removals.hpp"
#include "session/requests.hpp"
#include "support/fake_world.hpp"
#include "unit/poor_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

session_options of(lease_mode mode) {
  session_options options;
  options.lease = mode;
  return options;
}

struct lone_life : session_life {
  lone_life(scheduler_ptr on, session_options options) : session_life(std::move(on), std::move(options)) {}
  using session_life::begin_close;
  using session_life::end_incarnation;
  using session_life::give_up_lease;

  void begin(std::int64_t id) {
    begin_incarnation();
    current()->key = {id, "", 10s};
    on_granted(*current(), true, now());
    enter(session_state::connected, {}, "server");
  }
};

struct lone_requests : requests {
  using requests::answer_all;
  using requests::present;
  using requests::requests;
  using requests::send_first;
};

struct lone_keeper : lease_keeper {
  using lease_keeper::lease_keeper;
  using lease_keeper::prove_life;
  using lease_keeper::wake;
  using lease_keeper::watch_lease;
};

struct lone_removals : removals {
  using removals::removals;
};

struct recorded_link final : backend::link {
  explicit recorded_link(std::vector<std::pair<backend::request, backend::reply_handler>>& sent) : all(sent) {}
  void submit(backend::request what, backend::reply_handler handler) override {
    all.emplace_back(std::move(what), std::move(handler));
  }
  void close_session() override {}
  std::vector<std::pair<backend::request, backend::reply_handler>>& all;
};

struct lone_case : fake_bench, private answer_listener {
  explicit lone_case(lease_mode mode = lease_mode::standard) {
    auto on = make_scheduler();
    on->reach = std::make_shared<reach_limit>(*on->world, 30s);
    life = std::make_shared<lone_life>(std::move(on), of(mode));
    sends.emplace(*life, static_cast<answer_listener&>(*this), root_path("/r", {}));
  }

  void connect() {
    life->begin(7);
    sends->present().link = std::make_unique<recorded_link>(sent);
    sends->present().is_up = true;
  }
  void answer(std::size_t which, error_code error = {}, std::int64_t zxid = 0) {
    backend::reply reply;
    reply.error = error;
    reply.zxid = zxid;
    sent[which].second(std::move(reply));
  }

  /// The loops of all parts end.
  template <class Tell>
  void end(Tell tell) {
    life->begin_close();
    tell();
    settle();
  }

  std::shared_ptr<lone_life> life;
  std::optional<lone_requests> sends;
  std::vector<std::pair<backend::request, backend::reply_handler>> sent;
  std::string told;

 private:
  void on_service() override {
    told += "service ";
    sends->present().is_served = true;
  }
  void on_lease_renewed() override { told += "renewed "; }
  void on_catch_up_refused() override { told += "refused "; }
  void on_credentials_required() override { told += "credentials "; }
  void on_older_state() override { told += "older "; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_parts, lone_case)

BOOST_AUTO_TEST_CASE(the_root_goes_in_front_of_each_path_and_is_taken_off_again) {
  const root_path root("/a/b", {});
  BOOST_TEST(root.full("/") == "/a/b");
  BOOST_TEST(root.full("/c") == "/a/b/c");
  BOOST_TEST(root.below("/a/b") == "/");
  BOOST_TEST(root.below("/a/b/c") == "/c");
  BOOST_TEST(root.below("/other") == "/other");
  auto sync = make_request(backend::opcode::sync, "/");
  root.apply(sync);
  BOOST_TEST(sync.path == "/", "a sync has no path of a node");
  BOOST_TEST(root_path("", {}).full("/") == "/");
}

BOOST_AUTO_TEST_CASE(credentials_that_were_added_since_the_connection_began_are_known) {
  credential_list all(std::vector<credentials>{{"a", "1"}});
  all.given();
  BOOST_TEST(all.has({"a", "1"}));
  BOOST_TEST(!all.has({"a", "2"}));
  BOOST_TEST(!all.add({"b", "2"}));
  BOOST_TEST_REQUIRE(all.not_given().size() == 1u);
  BOOST_TEST(all.not_given().front().user == "b");
  BOOST_TEST((all.add({"c", std::string(most_credential_bytes, 'x')}) == errc::full));
}

BOOST_AUTO_TEST_CASE(a_lease_is_that_of_one_incarnation_until_the_session_is_given_up) {
  BOOST_TEST((life->valid_until() == lease_clock::time_point{}));
  life->begin(7);
  const auto first = life->current()->number;
  BOOST_TEST((life->valid_until(first) == now() + 9s));
  BOOST_TEST(!life->invalid(first));
  BOOST_TEST(life->end_incarnation(errc::session_expired));
  BOOST_TEST(!life->end_incarnation(errc::closed), "it was over before");
  life->begin(8);
  BOOST_TEST((life->valid_until(first) == lease_clock::time_point{}));
  BOOST_TEST((life->invalid(first) == errc::session_expired));
  advance(9s);
  BOOST_TEST((life->invalid(first + 1) == errc::lease_lapsed));
  life->give_up_lease();
  BOOST_TEST((life->invalid(first + 1) == errc::closed));
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_without_a_connection_or_while_the_session_is_being_closed) {
  BOOST_TEST((sends->send(make_request(backend::opcode::get, "/a"))->answer->error == errc::connection_loss));
  connect();
  BOOST_TEST(life->begin_close());
  BOOST_TEST((sends->send(make_request(backend::opcode::get, "/a"))->answer->error == errc::closed));
  BOOST_TEST(sent.empty());
}

BOOST_AUTO_TEST_CASE(the_first_answer_shows_that_the_server_serves_and_a_late_one_renews_the_lease) {
  connect();
  const auto one = sends->send(make_request(backend::opcode::get, "/a"));
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST(sent[0].first.path == "/r/a");
  answer(0);
  BOOST_TEST(one->answer.has_value());
  BOOST_TEST(told == "service ");
  advance(10s);
  sends->send(make_request(backend::opcode::get, "/a"));
  answer(1, errc::no_node);
  BOOST_TEST(told == "service renewed ");
}

BOOST_AUTO_TEST_CASE(a_write_without_an_answer_is_remembered) {
  connect();
  sends->send(make_request(backend::opcode::get, "/a"));
  answer(0, errc::connection_loss);
  BOOST_TEST(!sends->present().has_lost_writes);
  sends->send(make_request(backend::opcode::remove, "/a"));
  answer(1, errc::connection_loss);
  BOOST_TEST(sends->present().has_lost_writes);
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_the_catch_up_or_shows_the_past_leaves_the_request_in_flight) {
  connect();
  sends->send_first(false);
  answer(0, errc::server_error);
  BOOST_TEST(told == "refused ");
  sends->answer_all(errc::connection_loss);
  life->current()->seen = 5;
  sends->send_first(false);
  const auto first = sends->take_welcome();
  BOOST_TEST_REQUIRE(first);
  answer(1, {}, 4);
  BOOST_TEST(told == "refused older ");
  BOOST_TEST(!first->answer.has_value());
  sends->answer_all(errc::connection_loss);
  BOOST_TEST((first->answer->error == errc::connection_loss));
}

BOOST_AUTO_TEST_CASE(a_lease_is_kept_while_somebody_holds_on_to_it_and_its_end_is_told) {
  connect();
  lone_keeper keeper(*life, *sends);
  launch_detached(life->strand(), keeper.prove_life());
  launch_detached(life->strand(), keeper.watch_lease());
  advance(5s);
  BOOST_TEST(sent.empty(), "nobody holds it");
  condition lapsed(life->get_scheduler());
  int times = 0;
  const auto listen = [](condition& of, int& count) -> awaitable<void> {
    co_await of.wait();
    ++count;
  };
  launch_detached(life->strand(), listen(lapsed, times));
  const auto held = keeper.add_holder(lapsed);
  settle();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST((sent[0].first.op == backend::opcode::exists));
  answer(0);
  advance(3s - 1ms);
  BOOST_TEST(sent.size() == 1u);
  advance(1ms);
  BOOST_TEST(sent.size() == 2u, "a third of nine seconds later");
  advance(6s - 1ms);
  BOOST_TEST(times == 0);
  advance(1ms);
  BOOST_TEST(times == 1);
  keeper.remove_holder(held);
  end([&] { keeper.wake(); });
  answer(1);
  settle();
}

BOOST_AUTO_TEST_CASE(a_removal_is_tried_until_the_node_is_gone_and_an_orphan_of_ours_is_removed) {
  connect();
  lone_removals removes(*life, *sends);
  const auto owner = std::make_shared<int>();
  const auto known = removes.make_own_guid(owner);
  const auto orphan = removes.make_own_guid(std::weak_ptr<int>());
  BOOST_TEST(known.substr(0, 18) == orphan.substr(0, 18));
  const auto one = removes.remove_surely("/a", life->current());
  settle();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST(sent[0].first.path == "/r/a");
  answer(0, errc::no_auth);
  advance(49ms);
  BOOST_TEST((one->answer == errc::no_auth));
  BOOST_TEST(!one->is_over);
  BOOST_TEST(sent.size() == 1u);
  advance(101ms);
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  answer(1, errc::no_node);
  settle();
  BOOST_TEST(one->is_over);
  removes.remove_orphans("/line", {"_c_" + known + "-1", "_c_" + orphan + "-2", "_c_other-3"});
  removes.remove_orphans("/line", {"_c_" + orphan + "-2"});  // it is seen to
  settle();
  BOOST_TEST_REQUIRE(sent.size() == 3u);
  BOOST_TEST(sent[2].first.path == "/r/line/_c_" + orphan + "-2");
  backend::reply ours;
  ours.stat.ephemeral_owner = 7;
  sent[2].second(ours);
  settle();
  BOOST_TEST_REQUIRE(sent.size() == 4u);
  BOOST_TEST((sent[3].first.op == backend::opcode::remove));
  answer(3);
  settle();
}

BOOST_AUTO_TEST_CASE(a_server_is_asked_until_one_has_answered_and_the_end_of_the_session_is_waited_for) {
  struct : backend::link_listener {
    void up(const backend::session_key&) override {}
    void down(error_code) override {}
    void fired(const backend::watch_event&) override {}
  } nobody;
  auto& at = sends->present();
  credential_list none(std::vector<credentials>{});
  known_servers servers(*life, at.changed, {{"127.0.0.1", 1}, {"127.0.0.1", 2}});
  connector through(*life, at, nobody, servers, none);
  launch_detached(life->strand(), through.run());
  settle();
  BOOST_TEST_REQUIRE(state().connections.size() == 1u);
  const int first = last().options.server.port;
  advance(life->options().timeout / 3);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  BOOST_TEST(!state().connections[0]->open);
  BOOST_TEST(last().options.server.port == 3 - first);
  BOOST_TEST_REQUIRE(life->status().failures.size() == 1u);
  BOOST_TEST((life->status().failures[0].reason == failure_reason::silent));
  at.is_up = at.is_served = true;
  at.changed.notify();
  advance(1h);
  BOOST_TEST(last().open);
  end([&] { through.close_by(now() + 1s); });
  BOOST_TEST(last().closing);
  advance(1s - 1ms);
  BOOST_TEST(last().open);
  advance(1ms);
  BOOST_TEST(!last().open);
  BOOST_TEST(through.is_unconfirmed());
}

BOOST_AUTO_TEST_SUITE_END()

// The limit of what waits for a connection.

namespace {

struct reach_case : fake_bench {
  struct operation {
    explicit operation(reach_limit& in) : waits(in, signal) {
      signal.slot().assign([this](asio::cancellation_type) { ended = true; });
    }
    asio::cancellation_signal signal;
    bool ended = false;
    reach_limit::waiting waits;
  };

  scheduler_ptr scheduler = make_scheduler();
  reach_limit limit{*scheduler->world, 30s};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reach_limits, reach_case)

BOOST_AUTO_TEST_CASE(an_operation_that_has_no_memory_to_wait_is_not_ended_later) {
  poor_world poor(worlds()(scheduler->strand));
  poor.is_poor = true;
  reach_limit in_poor(poor, 30s);
  asio::cancellation_signal signal;
  bool is_ended = false;
  signal.slot().assign([&](asio::cancellation_type) { is_ended = true; });
  std::optional<reach_limit::waiting> failed;
  BOOST_CHECK_THROW(failed.emplace(in_poor, signal), std::bad_alloc);
  poor.is_poor = false;
  operation other(in_poor);
  advance(31s);
  BOOST_TEST(!is_ended);
  BOOST_TEST(other.ended);
}

BOOST_AUTO_TEST_CASE(counts_from_the_beginning_of_the_operation) {
  operation first(limit);
  advance(20s);
  operation second(limit);
  advance(11s);
  BOOST_TEST(first.ended);
  BOOST_TEST(first.waits.is_over());
  BOOST_TEST(!second.ended);
  advance(20s);
  BOOST_TEST(second.ended);
}

BOOST_AUTO_TEST_CASE(a_connection_stops_it_and_its_loss_begins_it_anew) {
  operation one(limit);
  advance(29s);
  limit.connected();
  advance(1h);
  limit.disconnected();
  advance(29s);
  limit.disconnected();  // still none
  BOOST_TEST(!one.ended);
  advance(2s);
  BOOST_TEST(one.ended);
}

BOOST_AUTO_TEST_CASE(those_that_have_ended_are_not_cancelled) {
  std::list<operation> all;
  for (int i = 0; i < 3; ++i) all.emplace_back(limit);
  all.pop_front();
  advance(31s);
  for (const auto& each : all) BOOST_TEST(each.ended);
}

BOOST_AUTO_TEST_CASE(the_timer_ends_with_the_last_operation) {
  {
    operation one(limit), another(limit);
    BOOST_TEST(state().timers.size() == 1u);
  }
  BOOST_TEST(state().timers.empty(), "a program that stops does not wait for it");
}

BOOST_AUTO_TEST_CASE(thousands_end_in_steps) {
  std::list<operation> all;
  for (int i = 0; i < 1'000; ++i) all.emplace_back(limit);
  advance(31s);
  for (const auto& each : all) BOOST_TEST(each.ended);
}

BOOST_AUTO_TEST_CASE(zero_is_no_limit) {
  reach_limit none(*scheduler->world, 0s);
  operation one(none);
  advance(24h);
  none.connected();
  none.disconnected();
  advance(24h);
  BOOST_TEST(!one.ended);
}

BOOST_AUTO_TEST_SUITE_END()
