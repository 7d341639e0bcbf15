// One connection to a broker that the test plays, in a world whose time the test moves.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "brokers/scripted_world.hpp"
#include "rabbit/server_bytes.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "rabbitmq/rabbitmq_c.hpp"
#include "support/fake_world.hpp"

using namespace std::chrono_literals;
using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

const backend::endpoint nowhere{"127.0.0.1", 5672};

/// A heartbeat of 10 s, of ours.
struct link_case {
  link_case() {
    amqp_settings settings;
    settings.user = "smith";
    settings.password = "sesame street";
    auto stream = std::make_unique<scripted_stream>(on->strand, peer);
    link = std::make_shared<rabbit_link>(on, std::move(stream), settings, [this] { ++changes; });
  }
  ~link_case() {
    link->abandon();
    peer->take_all();
    bench.settle();
    BOOST_TEST(peer->is_closed);
    BOOST_TEST(link.use_count() == 1);
    BOOST_TEST(bench.state().timers.empty());
  }

  void come_up() {
    link->connect(nowhere);
    peer->connect();
    peer->take_all();
    for (const auto& each : {wire::start(), wire::tune(), wire::open_ok(), wire::channel_open_ok()}) {
      peer->say(each);
      peer->take_all();
    }
    peer->hear();
    BOOST_TEST_REQUIRE(link->is_up());
  }
  std::vector<wire::sent_frame> hear() {
    peer->take_all();
    const auto bytes = peer->hear();
    return wire::frames_in(bytes);
  }
  rabbit_link::answer_handler note() {
    return [this](const amqp_answer& each) { answers.push_back(each); };
  }

  fake_bench bench;
  scheduler_ptr on = bench.make_scheduler();
  std::shared_ptr<scripted_peer> peer = std::make_shared<scripted_peer>();
  std::shared_ptr<rabbit_link> link;
  int changes = 0;
  std::vector<amqp_answer> answers;
};

bool is_heartbeat(const std::vector<wire::sent_frame>& all) { return all.size() == 1 && all[0].type == 8; }

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_links)

BOOST_FIXTURE_TEST_CASE(a_link_is_up_when_the_channel_is_open, link_case) {
  link->connect(nowhere);
  peer->connect();
  peer->take_all();
  BOOST_TEST(peer->hear() == std::string("AMQP\0\0\x09\x01", 8));
  peer->say(wire::start() + wire::tune() + wire::open_ok());
  BOOST_TEST(!link->is_up());
  BOOST_TEST(changes == 0);
  BOOST_TEST(hear().size() == 4u);
  peer->say(wire::channel_open_ok());
  BOOST_TEST(link->is_up());
  BOOST_TEST(changes == 1);
}

BOOST_FIXTURE_TEST_CASE(what_is_asked_during_a_write_goes_together, link_case) {
  come_up();
  link->look_at("a", note());
  link->look_at("b", note());
  link->look_at("c", note());
  BOOST_TEST(wire::frames_in(peer->writing).size() == 1u);
  BOOST_TEST(link->unsent() > 0u);
  peer->take();
  BOOST_TEST(wire::frames_in(peer->writing).size() == 2u);
  BOOST_TEST(hear().size() == 3u);
  BOOST_TEST(link->unsent() == 0u);
  peer->say(wire::declare_ok(1, 0) + wire::declare_ok(2, 0) + wire::declare_ok(3, 0));
  BOOST_TEST_REQUIRE(answers.size() == 3u);
  BOOST_TEST(answers[2].messages == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_silent_link_sends_heartbeats_after_half_the_time, link_case) {
  come_up();
  bench.advance(4s);
  BOOST_TEST(hear().empty());
  bench.advance(1s);
  BOOST_TEST(is_heartbeat(hear()));
  bench.advance(3s);
  link->acknowledge(1, false);
  BOOST_TEST(hear().size() == 1u);
  bench.advance(4s);
  BOOST_TEST(hear().empty());
  bench.advance(1s);
  BOOST_TEST(is_heartbeat(hear()));
}

BOOST_FIXTURE_TEST_CASE(a_silent_broker_is_given_up_after_twice_the_time, link_case) {
  come_up();
  link->look_at("q", note());
  for (int i = 0; i < 3; ++i) {
    bench.advance(19s);
    peer->take_all();
    BOOST_TEST(link->is_up());
    peer->say(wire::heartbeat());
  }
  bench.advance(20s);
  BOOST_TEST(link->is_over());
  BOOST_TEST((link->why() == rabbit_errc::unavailable));
  BOOST_TEST(link->reason() == "nothing has come for 20 s");
  BOOST_TEST_REQUIRE(answers.size() == 1u);
  BOOST_TEST((answers[0].error == rabbit_errc::unavailable));
  BOOST_TEST(changes == 2);
}

// Else a broker that answers nothing would be waited for as long as it lives.
BOOST_FIXTURE_TEST_CASE(heartbeats_are_no_part_of_an_answer, link_case) {
  come_up();
  const auto begin = link->last_passed();
  bench.advance(1s);
  peer->say(wire::heartbeat());
  BOOST_TEST((link->last_passed() == begin));
  link->look_at("q", note());
  peer->say(wire::declare_ok(1, 0));
  BOOST_TEST((link->last_passed() == bench.now()));
}

BOOST_FIXTURE_TEST_CASE(heartbeats_do_not_pile_up_behind_a_write_that_hangs, link_case) {
  come_up();
  link->acknowledge(1, false);
  for (int i = 0; i < 10; ++i) {
    peer->say(wire::heartbeat());
    bench.advance(10s);
  }
  BOOST_TEST(link->is_up());
  BOOST_TEST(hear().size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_broker_that_goes_ends_the_link, link_case) {
  come_up();
  link->look_at("q", note());
  peer->leave();
  BOOST_TEST(link->is_over());
  BOOST_TEST(link->reason() == "the broker has closed the connection");
  BOOST_TEST((answers.at(0).error == rabbit_errc::unavailable));
  link->look_at("q", note());
  BOOST_TEST((answers.at(1).error == rabbit_errc::unavailable));
  BOOST_TEST(link->publish("q", "m", "", "") == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_refusal_ends_the_link_with_the_words_of_the_broker, link_case) {
  come_up();
  link->declare("q", unreachable_limit, note());
  hear();
  peer->say(wire::channel_close(406, "PRECONDITION_FAILED - inequivalent arg", 50, 10));
  BOOST_TEST((link->why() == rabbit_errc::other_queue));
  BOOST_TEST(link->reason() == "PRECONDITION_FAILED - inequivalent arg");
  BOOST_TEST((answers.at(0).error == rabbit_errc::other_queue));
  BOOST_TEST(!peer->is_closed);
  const auto last = hear();
  BOOST_TEST_REQUIRE(last.size() == 2u);
  BOOST_TEST(last[0].method() == AMQP_CHANNEL_CLOSE_OK_METHOD);
  BOOST_TEST(last[1].method() == AMQP_CONNECTION_CLOSE_METHOD);
  BOOST_TEST(peer->is_closed);
}

BOOST_FIXTURE_TEST_CASE(a_link_that_is_abandoned_parts_from_the_broker, link_case) {
  come_up();
  link->look_at("q", note());
  hear();
  link->abandon();
  BOOST_TEST(!link->is_up());
  peer->say(wire::declare_ok(1, 1));
  const auto last = hear();
  BOOST_TEST_REQUIRE(last.size() == 1u);
  BOOST_TEST(last[0].method() == AMQP_CONNECTION_CLOSE_METHOD);
  BOOST_TEST(peer->is_closed);
  BOOST_TEST(answers.empty());
  BOOST_TEST(changes == 1);
}

BOOST_FIXTURE_TEST_CASE(a_broker_that_does_not_read_is_not_waited_for_when_parting, link_case) {
  come_up();
  link->abandon();
  BOOST_TEST(!peer->is_closed);
  bench.advance(1s);
  BOOST_TEST(peer->is_closed);
}

BOOST_FIXTURE_TEST_CASE(a_connection_that_fails_has_a_reason, link_case) {
  link->connect(nowhere);
  peer->connect(asio::error::connection_refused);
  BOOST_TEST(link->is_over());
  BOOST_TEST(link->reason() == error_code(asio::error::connection_refused).message());
  BOOST_TEST(peer->is_closed);
}

BOOST_AUTO_TEST_CASE(a_world_without_brokers_says_so) {
  fake_bench bench;
  const auto link = std::make_shared<rabbit_link>(bench.make_scheduler(), nullptr, amqp_settings(), nullptr);
  link->connect(nowhere);
  BOOST_TEST(link->is_over());
  BOOST_TEST(link->reason() == "there are no brokers here");
}

BOOST_FIXTURE_TEST_CASE(a_pause_is_news, link_case) {
  come_up();
  peer->say(wire::method(0, 10, 60, wire::short_text("disk")));
  BOOST_TEST(link->client().wants_pause());
  BOOST_TEST(link->client().pause_reason() == "disk");
  BOOST_TEST(changes == 2);
  peer->say(wire::method(0, 10, 61, ""));
  BOOST_TEST(!link->client().wants_pause());
  BOOST_TEST(changes == 3);
}

BOOST_AUTO_TEST_SUITE_END()
