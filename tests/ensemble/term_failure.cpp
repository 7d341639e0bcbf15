// A career that throws ends its run, and holds nobody up.
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

[[noreturn]] void fail() { throw std::runtime_error("boom"); }

class failures : public term_case {
 public:
  void fails_and_the_next_one_leads(const std::function<void(career&)>& prepare, bool resigns = false) {
    auto& a = add(prepare);
    auto& b = add();
    if (resigns) {
      wait_executing(a, 1);
      a.coordinator.resign();
    }
    wait_ended(a, errc::career_failed);
    BOOST_TEST_REQUIRE((a.coordinator.failure() != nullptr));
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(a.coordinator.failure()), std::runtime_error,
                          [](const std::runtime_error& error) { return error.what() == std::string("boom"); });
    wait_executing(b, 2);
    BOOST_TEST(b.does.terms[0].how() == takeover::clean);
    BOOST_TEST(in_line() == 1u);
    if (!resigns) BOOST_TEST(a.does.has("hand_over 1 failed"));
    stop_all();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_failure, failures)

BOOST_AUTO_TEST_CASE(in_its_inauguration) {
  fails_and_the_next_one_leads([](career& does) {
    does.on_inaugurate = [](term) -> asio::awaitable<void> {
      fail();
      co_return;
    };
  });
}

BOOST_AUTO_TEST_CASE(in_its_execution) {
  fails_and_the_next_one_leads([](career& does) {
    does.on_execute = [](term) -> asio::awaitable<void> {
      fail();
      co_return;
    };
  });
}

BOOST_AUTO_TEST_CASE(in_its_hand_over) {
  fails_and_the_next_one_leads(
      [](career& does) {
        does.on_hand_over = [](term, term_end) -> asio::awaitable<void> {
          fail();
          co_return;
        };
      },
      true);
}

BOOST_AUTO_TEST_CASE(of_the_message_in_hand_while_the_term_ends) {
  hold_point message(executor());
  auto& a = add([&](career& does) {
    does.on_execute = [&](term) -> asio::awaitable<void> {
      co_await message.pass();
      fail();
    };
  });
  wait([&] { return message.is_reached(); });
  a.coordinator.stop();
  wait([&] { return a.does.terms[0].ending(); });
  message.open();
  wait_ended(a, errc::career_failed);
  BOOST_TEST((a.coordinator.failure() != nullptr));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(record_says(R"("phase":"retired")"), get("/e").data);
}

BOOST_AUTO_TEST_CASE(but_not_by_an_error_that_tells_of_the_end) {
  auto& a = add([&](career& does) {
    does.on_execute = [](term present) -> asio::awaitable<void> {
      co_await present.async_ending(tuple);
      throw boost::system::system_error(errc::session_expired);
    };
  });
  wait_executing(a, 1);
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST((a.coordinator.failure() == nullptr));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
}

BOOST_AUTO_TEST_CASE(in_the_last_call_of_its_term) {
  struct regretful final : leader_career {
    asio::awaitable<void> inaugurate(term) override { co_return; }
    asio::awaitable<void> execute(term present) override { co_await present.async_ending(tuple); }
    asio::awaitable<void> hand_over(term, term_end) override { co_return; }
    asio::awaitable<void> ended(term, term_end) override { fail(); }
  } does;
  consumer_coordinator coordinator(zk(), "/e", {.id = "regretful"});
  recorder<> ended(executor());
  coordinator.async_run(does, ended.token());
  wait([&] { return view().phase == term_phase::executing; });
  coordinator.resign();
  wait([&] { return ended.done(); });
  BOOST_TEST(ended.error() == errc::career_failed);
  BOOST_TEST(in_line() == 0u);
}

BOOST_AUTO_TEST_CASE(before_its_coroutine_begins) {
  struct hasty final : leader_career {
    asio::awaitable<void> inaugurate(term) override { fail(); }
    asio::awaitable<void> execute(term) override { fail(); }
    asio::awaitable<void> hand_over(term, term_end) override { fail(); }
  } does;
  consumer_coordinator coordinator(zk(), "/e", {.id = "hasty"});
  auto ended = run(coordinator.async_run(does, tuple));
  BOOST_TEST(std::get<0>(ended) == errc::career_failed);
  BOOST_TEST((coordinator.failure() != nullptr));
  BOOST_TEST(run_until([&] { return in_line() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(it_may_run_again_afterwards) {
  bool broken = true;
  auto& a = add([&](career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      if (broken) fail();
      co_await present.async_ending(tuple);
    };
  });
  wait_ended(a, errc::career_failed);
  broken = false;
  a.restart();
  wait_executing(a, 2);
  a.coordinator.resign();
  wait_executing(a, 3);
  BOOST_TEST((a.coordinator.failure() == nullptr));
  stop_all();
  BOOST_TEST(!a.ended.error(), a.ended.error().message());
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused_by_name) {
  using traits = career_traits;
  auto refused = [&](traits with) -> std::string {
    career does(floor);
    does.with = with;
    consumer_coordinator coordinator(zk(), "/e", {.id = "a"});
    try {
      coordinator.async_run(does, [](error_code) {});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  BOOST_TEST(refused({.hand_over_deadline = -1ms}).find("hand_over_deadline") != std::string::npos);
  BOOST_TEST(refused({.aftermath = -1ms}).find("aftermath") != std::string::npos);
  BOOST_TEST(refused({.stall_limit = 61min}).find("stall_limit") != std::string::npos);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "/e", {.id = ""}), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "e", {.id = "a"}), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "/e", {.id = "a", .rest = -1s}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
