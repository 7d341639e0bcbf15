// What goes wrong beside a producer: queues that are deleted or are others', records of others, brokers that refuse.
#include "rabbit/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Two shards, and a key of each.
struct two_queues_case : producer_case {
  two_queues_case() {
    with.shards = 2;
    const auto over = queues(zk());
    while (over.shard_of(of_first) != 0) ++of_first.back();
    while (over.shard_of(of_second) != 1) ++of_second.back();
  }

  std::string of_first = "a";
  std::string of_second = "a";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_producer_faults, two_queues_case)

BOOST_AUTO_TEST_CASE(a_deleted_queue_is_told_to_those_that_put_into_it_only) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  check(put(by, "x", of_second), {});
  client().remove(queue(1));
  recorder<std::uint64_t> mixed(executor());
  recorder<std::uint64_t> second(executor()), first(executor());
  by.async_put_all({{of_first, "2"}, {of_second, "x"}, {of_first, "3?"}}, mixed.token());
  by.async_put(of_second, "x", second.token());
  by.async_put(of_first, "4", first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return mixed.done() && second.done() && first.done(); }));
  check({mixed.error(), mixed.result<0>()}, rabbit_errc::missing_queue, 1u);
  check(second.error(), rabbit_errc::missing_queue);
  check(first.error(), {});
  BOOST_TEST(!client().look_at(queue(1)).has_value());
  auto found = reader().read_data();
  std::erase(found, "3?");  // it may have been sent before the broker had returned the one in front of it
  BOOST_TEST(found == std::vector<std::string>({"1", "2", "4"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_deleted_queue_that_is_made_anew_takes_messages_again) {
  auto by = producer();
  check(put(by, "x", of_second), {});
  client().remove(queue(1));
  check(put(by, "x", of_second), rabbit_errc::missing_queue);
  check(put(by, "x", of_second), rabbit_errc::missing_queue);
  check(put(by, "x", of_first), {});
  client().declare(queue(1));
  check(put(by, "1", of_second), {});
  check(put(by, "2", of_second), {});
  BOOST_TEST(take_what_is_left(1) == numbers(1, 2), boost::test_tools::per_element());
  auto next = producer();
  client().remove(queue(1));
  check(put(next, "3", of_second), {});  // an object that has not put into it yet makes it
  BOOST_TEST(take_what_is_left(1) == std::vector<std::string>({"3"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_of_another_type_is_told_and_left_alone) {
  client().declare_classic(queue(1));
  auto by = producer();
  check(put(by, "1", of_first), {}, 1);
  check(put(by, "x", of_second), rabbit_errc::other_queue, 0);
  check(put(by, "2", of_first), {}, 2);
  has_put(2);
  BOOST_TEST(client().depth(queue(1)) == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_refused_and_the_rest_goes_on) {
  auto by = producer();
  check(put_all_of(by, {}), {}, 0u);
  const std::string large((std::size_t{64} << 20) - of_first.size() + 1, 'x');
  check(put(by, large, of_first), errc::too_large);
  check(put(by, "x", std::string(1'001, 'k')), errc::too_large);
  check(put_all_of(by, {{of_first, "x"}, {of_first, large}}), errc::too_large, 0u);
  BOOST_TEST(!client().look_at(queue()).has_value());
  check(put(by, "1", of_first), {});
  has_put(1);
}

// The broker takes less than a producer does: `max_message_size`.
BOOST_AUTO_TEST_CASE(what_is_too_large_for_the_broker_is_refused_and_the_rest_goes_on) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  recorder<std::uint64_t> refused(executor()), behind(executor());
  by.async_put(of_first, std::string(largest_message + 1, 'x'), refused.token());
  by.async_put(of_first, "2", behind.token());
  BOOST_TEST_REQUIRE(run_until([&] { return refused.done() && behind.done(); }));
  check(refused.error(), rabbit_errc::refused);
  check(behind.error(), {});
  check(put(by, "3", of_first), {});
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_path_or_a_record_of_somebody_else_is_left_alone) {
  create("/t", "mine");
  auto by = producer();
  check(put(by, "1", of_first), errc::foreign_data);
  BOOST_TEST(get("/t").data == "mine");
  BOOST_TEST(!client().look_at(queue()).has_value());
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t", "", any_version, tuple))));
  check(put(by, "1", of_first), {});
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t/_producers/p", "mine", any_version, tuple))));
  auto next = producer();
  check(put(next, "x", of_first), errc::foreign_data);
  BOOST_TEST(get("/t/_producers/p").data == "mine");
  has_put(1);
}

BOOST_AUTO_TEST_CASE(another_number_of_shards_is_refused) {
  auto by = producer();
  check(put(by, "1", of_first), {});
  with.shards = 3;
  auto wider = producer();
  check(put(wider, "x", of_first), errc::size_mismatch);
  with.shards = 2;
  has_put(1);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told_and_its_text_is_not) {
  with.password = "open barley";
  auto by = producer();
  const auto error = put(by, "x", of_first);
  check(error, rabbit_errc::refused_credentials);
  BOOST_TEST(has_logged("authentication_failed rabbitmq"));
  BOOST_TEST(!has_logged("barley"));
}

// It has no room on its disk, so it reads nothing more from a connection on which a message has come.
BOOST_AUTO_TEST_CASE(a_broker_that_asks_for_a_pause_is_waited_for_and_its_reason_told) {
  use_own_broker({.extra_config = {"disk_free_limit.absolute = 1000000GB"}});
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  recorder<std::uint64_t> first(executor()), second(executor());
  by.async_put(of_first, "1", first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() || has_logged("low on disk"); }));
  by.async_put(of_first, "2", second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("low on disk"); }));
  BOOST_TEST(!second.done());
  for (auto* each : {&first, &second}) each->cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  check(second.error(), error_code(asio::error::operation_aborted));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));  // until then what was called is put all the same
}

BOOST_AUTO_TEST_SUITE_END()
