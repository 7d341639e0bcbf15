// The parts of a session, each without the others that it does not need.
#include <optional>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "session/credentials.hpp"
#include "session/reach_limit.hpp"
#include "session/requests.hpp"
#include "support/fake_world.hpp"

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

BOOST_AUTO_TEST_SUITE_END()
