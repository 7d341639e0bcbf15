// Messages from outside: each numbered one is put once, whatever happens.
#include "service/intake.hpp"

#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

using namespace zkrecipes::service;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using kind = taken::kind;

BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::service::taken::kind)

namespace {

/// What the servers have of one producer, and what happens to the next puts.
struct store {
  enum class fate { done, refused, refused_late, unanswered, done_unanswered, full, forbidden, renumbered };
  std::vector<std::string> messages;
  std::queue<fate> fates;
  bool answers = true;  ///< False: reading what is there lasts until the time is over, and the end of the time is late.
  std::vector<asio::steady_timer*> unanswered;  ///< Puts, each of which ends when its timer is cancelled.
  int outlets = 0;
  int puts = 0;
  int closed = 0;

  fate next() {
    if (fates.empty()) return fate::done;
    const auto first = fates.front();
    fates.pop();
    return first;
  }
};

/// Like the producers of the library it puts behind the number that it has read first, refuses to put if that has
/// changed, and reads it again after an error, `full` included.
class fake_outlet : public outlet {
 public:
  explicit fake_outlet(store& into) : into_(into) { ++into.outlets; }

  asio::awaitable<result> put(std::string, std::string data) override {
    using enum store::fate;
    ++into_.puts;
    const auto fate = into_.next();
    if (!record_) record_ = into_.messages.size();
    if (fate == refused || *record_ != into_.messages.size()) co_return refusal(zkrecipes::errc::superseded);
    if (fate == full) co_return refusal(zkrecipes::errc::full);
    if (fate == forbidden) co_return refusal(zkrecipes::errc::no_auth);
    if (fate == renumbered) into_.messages.clear();
    if (fate != unanswered && fate != refused_late) into_.messages.push_back(std::move(data));
    record_ = into_.messages.size();
    if (fate == unanswered || fate == done_unanswered || fate == refused_late) {
      asio::steady_timer answer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
      into_.unanswered.push_back(&answer);
      co_await answer.async_wait(asio::as_tuple(asio::use_awaitable));
      if (fate == refused_late) co_return refusal(zkrecipes::errc::superseded);
      if (fate == unanswered) co_return result(zkrecipes::errc::connection_loss, 0);
    }
    co_return result(zkrecipes::error_code(), into_.messages.size());
  }
  asio::awaitable<result> last(asio::cancellation_slot cancelled) override {
    if (!into_.answers) co_await until(cancelled);
    if (!record_) record_ = into_.messages.size();
    co_return result(zkrecipes::error_code(), into_.messages.size());
  }
  bool is_ended_by(const zkrecipes::error_code& error) const override { return error == zkrecipes::errc::superseded; }
  asio::awaitable<void> close() override {
    ++into_.closed;
    co_return;
  }
  std::string trouble() const override { return "the disk is full"; }
  void add_to(metrics_page& page) const override { page.gauge("outlet", "Of the outlet.", 1); }

 private:
  result refusal(zkrecipes::errc why) {
    record_.reset();
    return {why, 0};
  }
  static asio::awaitable<void> until(asio::cancellation_slot cancelled) {
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    cancelled.assign([&never](auto) { never.cancel(); });
    try {
      co_await never.async_wait(asio::use_awaitable);
    } catch (const boost::system::system_error&) {
      cancelled.clear();
    }
  }

  store& into_;
  std::optional<std::uint64_t> record_;
};

struct setting {
  static auto into(taken& result) {
    return [&result](std::exception_ptr failure, taken found) {
      if (failure) std::rethrow_exception(failure);
      result = std::move(found);
    };
  }
  auto into(taken& result, int& done) {
    return [to = into(result), &done](std::exception_ptr failure, taken found) {
      ++done;
      to(failure, std::move(found));
    };
  }
  /// A put that is not answered goes on.
  taken take(intake& by, incoming message) {
    taken result;
    int done = 0;
    asio::co_spawn(io, by.take(std::move(message)), into(result, done));
    run_until(done, 1);
    return result;
  }
  void run_until(const int& done, int count) {
    io.restart();
    while (done < count && io.run_one() > 0) {
    }
    BOOST_TEST_REQUIRE(done == count);
  }
  taken take(incoming message) { return take(messages, std::move(message)); }
  taken take(std::uint64_t number, std::string data) { return take({{}, std::move(data), "till", number}); }

  intake make_intake(intake_options options) {
    return {io.get_executor(), "own",
            [this](const std::string& name) { return std::make_unique<fake_outlet>(stores[name]); }, options};
  }
  int outlets() const {
    int all = 0;
    for (const auto& [name, each] : stores) all += each.outlets;
    return all;
  }

  asio::io_context io{1};
  std::string figures(const intake& of) const {
    metrics_page page;
    of.add_to(page);
    return page.text();
  }

  std::map<std::string, store> stores;
  store& servers = stores["till"];
  store& own = stores["own"];
  intake messages = make_intake({.pending = 3, .timeout = 20ms});
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_intake, setting)

BOOST_AUTO_TEST_CASE(numbered_messages_are_put_in_order) {
  BOOST_TEST(take(1, "a").what == kind::put);
  const auto second = take(2, "b");
  BOOST_TEST(second.what == kind::put);
  BOOST_TEST(second.number == 2);
  BOOST_TEST(servers.messages.size() == 2);
  BOOST_TEST(servers.outlets == 1);
}

BOOST_AUTO_TEST_CASE(a_repetition_is_not_put_again) {
  BOOST_TEST(take(1, "a").what == kind::put);
  BOOST_TEST(take(1, "a").what == kind::already);
  BOOST_TEST(servers.messages.size() == 1);
}

BOOST_AUTO_TEST_CASE(numbers_begin_anew_with_the_queue) {
  BOOST_TEST(take(1, "a").what == kind::put);
  BOOST_TEST(take(2, "b").what == kind::put);
  servers.messages.clear();  // an operator has removed it
  BOOST_TEST(take(1, "c").what == kind::put);
  BOOST_TEST(take(2, "d").what == kind::put);
  BOOST_TEST(servers.messages == (std::vector<std::string>{"c", "d"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_full_queue_is_told_until_a_message_is_put) {
  BOOST_TEST(messages.trouble() == "");
  servers.fates.push(store::fate::full);
  BOOST_TEST(take(1, "a").what == kind::later);
  BOOST_TEST(messages.trouble().starts_with("messages are refused: "));
  BOOST_TEST(take(1, "a").what == kind::put);
  BOOST_TEST(messages.trouble() == "");
}

BOOST_AUTO_TEST_CASE(a_gap_is_told) {
  BOOST_TEST(take(1, "a").what == kind::put);
  const auto third = take(3, "c");
  BOOST_TEST(third.what == kind::gap);
  BOOST_TEST(third.number == 1);
  BOOST_TEST(servers.messages.size() == 1);
}

BOOST_AUTO_TEST_CASE(without_an_answer_the_client_comes_again_and_the_message_is_there_once) {
  servers.fates.push(store::fate::done_unanswered);
  BOOST_TEST(take(1, "a").what == kind::later);
  BOOST_TEST(take(1, "a").what == kind::already);
  BOOST_TEST(servers.messages.size() == 1);
}

BOOST_AUTO_TEST_CASE(what_was_not_put_is_put_at_the_repetition) {
  servers.fates.push(store::fate::unanswered);
  BOOST_TEST(take(1, "a").what == kind::later);
  BOOST_TEST(take(1, "a").what == kind::put);
  BOOST_TEST(servers.messages.size() == 1);
}

BOOST_AUTO_TEST_CASE(another_replica_may_have_served_the_producer) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.messages.emplace_back("b");  // by the other one
  servers.fates.push(store::fate::refused);
  BOOST_TEST(take(2, "b").what == kind::later);
  BOOST_TEST(take(2, "b").what == kind::already);
  BOOST_TEST(take(3, "c").what == kind::put);
  BOOST_TEST(servers.messages.size() == 3);
}

BOOST_AUTO_TEST_CASE(another_replica_may_have_served_the_producer_twice) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.messages.emplace_back("b");
  servers.messages.emplace_back("c");
  BOOST_TEST(take(4, "d").what == kind::put);
  BOOST_TEST(take(3, "c").what == kind::already);
  BOOST_TEST(servers.messages.size() == 4);
}

BOOST_AUTO_TEST_CASE(a_gap_is_told_by_the_number_that_is_there) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.messages.emplace_back("b");
  const auto fifth = take(5, "e");
  BOOST_TEST(fifth.what == kind::gap);
  BOOST_TEST(fifth.number == 2);
}

BOOST_AUTO_TEST_CASE(another_replica_may_have_served_the_producer_after_the_queue_was_full) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.fates.push(store::fate::full);
  BOOST_TEST(take(2, "b").what == kind::later);
  servers.messages.emplace_back("b");  // by the other one
  BOOST_TEST(take(2, "b").what == kind::already);
  BOOST_TEST(take(3, "c").what == kind::put);
  BOOST_TEST(servers.messages == (std::vector<std::string>{"a", "b", "c"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(after_a_full_queue_the_message_is_put) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.fates.push(store::fate::full);
  BOOST_TEST(take(2, "b").what == kind::later);
  BOOST_TEST(take(2, "b").what == kind::put);
  BOOST_TEST(servers.messages.size() == 2);
}

BOOST_AUTO_TEST_CASE(a_message_with_another_number_than_its_own_is_told_and_the_next_begins_with_what_is_there) {
  BOOST_TEST(take(1, "a").what == kind::put);
  servers.fates.push(store::fate::renumbered);
  const auto second = take(2, "b");
  BOOST_TEST(second.what == kind::failed);
  BOOST_TEST(second.reason.find("as number 1") != std::string::npos);
  const auto third = take(3, "c");
  BOOST_TEST(third.what == kind::gap);
  BOOST_TEST(third.number == 1);
}

BOOST_AUTO_TEST_CASE(nothing_is_put_when_the_time_is_over) {
  servers.answers = false;
  const auto first = take(1, "a");
  BOOST_TEST(first.what == kind::later);
  BOOST_TEST(first.reason == "no confirmation yet");
  BOOST_TEST(servers.puts == 0);
}

BOOST_AUTO_TEST_CASE(what_only_an_operator_can_mend_is_told_as_a_failure) {
  servers.fates.push(store::fate::forbidden);
  const auto first = take(1, "a");
  BOOST_TEST(first.what == kind::failed);
  BOOST_TEST(!first.reason.empty());
  BOOST_TEST(take(1, "a").what == kind::put);
}

BOOST_AUTO_TEST_CASE(an_outlet_goes_on_after_a_message_without_a_number_was_given_up) {
  own.fates.push(store::fate::done_unanswered);
  BOOST_TEST(take({{}, "a"}).what == kind::later);
  BOOST_TEST(take({{}, "b"}).what == kind::put);
  BOOST_TEST(own.outlets == 1);
  BOOST_TEST(own.messages.size() == 2);
}

BOOST_AUTO_TEST_CASE(two_processes_with_one_name_do_not_take_it_from_each_other_in_turn) {
  messages.open_own();
  own.fates.push(store::fate::refused);
  BOOST_TEST(take({{}, "a"}).what == kind::later);
  const auto second = take({{}, "a"});
  BOOST_TEST(second.what == kind::later);
  BOOST_TEST(second.reason.find("another process puts messages under the name own") != std::string::npos);
  BOOST_TEST(messages.refusal() == second.reason);
  BOOST_TEST(messages.trouble() == second.reason);
  BOOST_TEST(own.puts == 1);
  BOOST_TEST(own.outlets == 1);
  BOOST_TEST(take(1, "of a client").what == kind::put);
  asio::co_spawn(io, messages.close(), asio::detached);
  io.restart();
  io.run();
  BOOST_TEST(own.closed == 1);
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_an_idle_client_is_forgotten_and_the_own_outlet_is_not) {
  auto few = make_intake({.clients = 1, .timeout = 20ms});
  few.open_own();
  BOOST_TEST(take(few, {{}, "a", "one", 1}).what == kind::put);
  BOOST_TEST(take(few, {{}, "b", "two", 1}).what == kind::put);
  BOOST_TEST(outlets() == 3);
  BOOST_TEST(take(few, {{}, "c"}).what == kind::put);
  BOOST_TEST(outlets() == 3);
  BOOST_TEST(take(few, {{}, "d", "one", 2}).what == kind::put);
  BOOST_TEST(outlets() == 4);
}

BOOST_AUTO_TEST_CASE(a_client_in_use_is_not_forgotten) {
  auto few = make_intake({.clients = 1, .timeout = 20ms});
  stores["busy"].fates.push(store::fate::unanswered);
  taken first, other, second;
  int done = 0;
  asio::co_spawn(io, few.take({{}, "a", "busy", 1}), into(first, done));
  asio::co_spawn(io, few.take({{}, "b", "other", 1}), into(other, done));
  asio::co_spawn(io, few.take({{}, "c", "busy", 2}), into(second, done));
  run_until(done, 3);
  BOOST_TEST(first.reason == "no confirmation yet");
  BOOST_TEST(other.what == kind::put);
  BOOST_TEST(second.reason == "another message of this producer is under way");
}

BOOST_AUTO_TEST_CASE(too_many_messages_are_told_to_come_again) {
  auto few = make_intake({.pending = 1, .timeout = 20ms});
  own.fates.push(store::fate::unanswered);
  taken first, second;
  int done = 0;
  asio::co_spawn(io, few.take({{}, "a"}), into(first, done));
  asio::co_spawn(io, few.take({{}, "b"}), into(second, done));
  run_until(done, 2);
  BOOST_TEST(first.reason == "no confirmation yet");
  BOOST_TEST(second.reason == "too many messages are under way");
}

BOOST_AUTO_TEST_CASE(a_message_is_under_way_until_its_put_ends_though_its_client_was_told_to_come_again) {
  auto few = make_intake({.pending = 2, .timeout = 20ms});
  own.fates.push(store::fate::done_unanswered);
  stores["till"].fates.push(store::fate::unanswered);
  BOOST_TEST(take(few, {{}, "a"}).reason == "no confirmation yet");
  BOOST_TEST(take(few, {{}, "b", "till", 1}).reason == "no confirmation yet");
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto next = take(few, {{}, "a"});
    BOOST_TEST(next.what == kind::later);
    BOOST_TEST(next.reason == "too many messages are under way");
  }
  BOOST_TEST(own.puts == 1);
  BOOST_TEST(figures(few).find("service_messages_pending 2\n") != std::string::npos);
  for (auto* each : {&own, &servers}) each->unanswered.at(0)->cancel();
  while (io.poll() > 0) {
  }
  BOOST_TEST(figures(few).find("service_messages_pending 0\n") != std::string::npos);
  BOOST_TEST(take(few, {{}, "c"}).what == kind::put);
  BOOST_TEST(take(few, {{}, "b", "till", 1}).what == kind::put);
}

BOOST_AUTO_TEST_CASE(that_another_process_has_the_name_is_heard_when_the_client_has_gone) {
  auto slow = make_intake({.timeout = 20ms});
  own.fates.push(store::fate::refused_late);
  BOOST_TEST(take(slow, {{}, "a"}).reason == "no confirmation yet");
  own.unanswered.at(0)->cancel();
  while (io.poll() > 0) {
  }
  const auto next = take(slow, {{}, "b"});
  BOOST_TEST(next.what == kind::later);
  BOOST_TEST(!slow.refusal().empty());
  BOOST_TEST(next.reason == slow.refusal());
  BOOST_TEST(own.puts == 1);
}

BOOST_AUTO_TEST_CASE(messages_that_have_too_many_bytes_together_are_told_to_come_again) {
  auto few = make_intake({.bytes = 10, .timeout = 20ms});
  own.fates.push(store::fate::unanswered);
  BOOST_TEST(take(few, {{}, "8 bytes."}).reason == "no confirmation yet");
  BOOST_TEST(take(few, {"k", "by"}).reason == "too many messages are under way");
  BOOST_TEST(take(few, {{}, "by"}).what == kind::put);
  own.unanswered.at(0)->cancel();
  while (io.poll() > 0) {
  }
  BOOST_TEST(take(few, {"k", "by"}).what == kind::put);
}

BOOST_AUTO_TEST_CASE(outlets_are_closed_once) {
  messages.open_own();
  BOOST_TEST(own.outlets == 1);
  BOOST_TEST(take(1, "a").what == kind::put);
  asio::co_spawn(io, messages.close(), asio::detached);
  asio::co_spawn(io, messages.close(), asio::detached);
  io.restart();
  io.run();
  BOOST_TEST(outlets() == 2);
  BOOST_TEST(own.closed == 1);
  BOOST_TEST(servers.closed == 1);
}

BOOST_AUTO_TEST_CASE(the_own_outlet_is_on_the_page_of_metrics_and_tells_its_trouble) {
  metrics_page before, behind;
  BOOST_TEST(messages.trouble().empty());
  messages.add_to(before);
  BOOST_TEST(before.text().find("outlet 1") == std::string::npos);
  messages.open_own();
  BOOST_TEST(messages.trouble() == "the disk is full");
  messages.add_to(behind);
  BOOST_TEST(behind.text().find("outlet 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_became_of_messages_is_counted) {
  BOOST_TEST(take(1, "a").what == kind::put);
  BOOST_TEST(take(1, "a").what == kind::already);
  const auto text = figures(messages);
  BOOST_TEST(text.find("service_messages_total{result=\"put\"} 1\n") != std::string::npos);
  BOOST_TEST(text.find("service_messages_total{result=\"already\"} 1\n") != std::string::npos);
  BOOST_TEST(text.find("service_messages_pending 0\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
