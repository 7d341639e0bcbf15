// When puts are accepted, written and answered, and what bounds them.
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

spool_options with(spool_durability durability) {
  auto options = small_spool();
  options.durability = durability;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_accepting)

BOOST_AUTO_TEST_CASE(a_put_is_complete_when_it_is_written) {
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains);
  life.settle();
  auto& first = life.put("1");
  auto& through = life.put_through("2");
  life.settle();
  BOOST_TEST(!first.done());
  BOOST_TEST(life.status().accepted == 2u);
  BOOST_TEST(life.status().spooled == 0u);
  life.pass(4ms);
  BOOST_TEST(!first.done());
  life.pass(1ms);
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(first.result<0>() == 1u);
  BOOST_TEST(remains.file->synced.rows.size() == 2u);
  life.recover();
  BOOST_TEST(!through.done());
  BOOST_TEST(life.status().put == 0u);
  BOOST_TEST((life.status().oldest >= 39s));
  remains.items->is_away = false;
  life.recover();
  BOOST_TEST_REQUIRE(through.done());
  BOOST_TEST(through.result<0>() == 2u);
  BOOST_TEST((life.status().oldest == 0s));
  BOOST_TEST(!life.status().error);
}

BOOST_AUTO_TEST_CASE(an_outage_is_told_while_a_call_waits_for_its_end) {
  spool_remains remains;
  remains.items->is_silent = true;
  remains.items->is_connected = false;
  spooling_process life(remains);
  life.settle();
  auto& first = life.put("1");
  life.pass(999ms);
  BOOST_TEST(!life.status().error);
  life.pass(1ms);
  BOOST_TEST((life.status().error == errc::connection_loss));
  BOOST_TEST(life.status().trouble.starts_with("/q: "), life.status().trouble);
  BOOST_TEST(life.status().trouble.find("no connection: check") != std::string::npos, life.status().trouble);
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(!first.error(), "it is accepted all the same");
  remains.items->is_connected = true;
  life.pass(1s);
  BOOST_TEST(!life.status().error, "the call goes on");
  remains.items->is_silent = false;
  life.queue().answer_late();
  life.recover();
  BOOST_TEST(!life.status().error);
  BOOST_TEST(life.status().put == 1u);
}

BOOST_AUTO_TEST_CASE(a_put_that_takes_long_is_no_outage) {
  spool_remains remains;
  spooling_process life(remains);
  life.recover();
  remains.items->is_silent = true;
  life.put("1");
  life.recover();
  BOOST_TEST(life.status().lag == 1u);
  BOOST_TEST(!life.status().error);
  remains.items->is_connected = false;
  life.pass(1s);
  BOOST_TEST((life.status().error == errc::connection_loss));
  remains.items->is_silent = false;
  life.queue().answer_late();
  life.recover();
  BOOST_TEST(!life.status().error);
  BOOST_TEST(life.status().trouble == "");
  BOOST_TEST(life.status().put == 1u);
}

BOOST_AUTO_TEST_CASE(an_outage_without_messages_is_over_when_the_queue_answers) {
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains);
  life.pass(1s);
  BOOST_TEST((life.status().error == errc::connection_loss));
  remains.items->is_away = false;
  life.recover();
  BOOST_TEST(!life.status().error);
}

BOOST_AUTO_TEST_CASE(a_full_transaction_does_not_wait) {
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains);
  life.settle();
  for (int i = 1; i <= 5; ++i) life.put(std::to_string(i));
  life.settle();
  BOOST_TEST(life.status().spooled == 4u);
  life.pass(5ms);
  BOOST_TEST(life.status().spooled == 5u);
}

BOOST_AUTO_TEST_CASE(in_memory_a_put_is_complete_at_once_and_survives_faults_of_the_file) {
  spool_remains remains;
  spooling_process life(remains, with(spool_durability::memory), {.fault_at = 1});
  life.settle();
  auto& first = life.put("1");
  life.settle();
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(first.result<0>() == 1u);
  BOOST_TEST(remains.file->seen.rows.empty());
  life.pass(5ms);
  auto& second = life.put("2");
  life.recover();
  BOOST_TEST(second.result<0>() == 2u);
  const std::vector<std::string> expected{"1", "2"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_failed_write_fails_its_puts_and_those_behind_go_on) {
  spool_remains remains;
  spooling_process life(remains);
  life.recover();
  life.plan().fault_at = life.plan().step;
  auto& first = life.put("1");
  life.pass(5ms);
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST((first.error() == spool_errc::disk_full));
  auto& second = life.put("2");
  life.recover();
  BOOST_TEST(!second.error());
  BOOST_TEST(second.result<0>() == 1u);
  BOOST_TEST(!life.status().error);
  BOOST_TEST(remains.items->all == std::vector<std::string>{"2"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_opened_refuses_puts_until_it_can) {
  spool_remains remains;
  spooling_process life(remains, small_spool(), {.fault_at = 0});
  auto& early = life.put("1");
  life.settle();
  BOOST_TEST_REQUIRE(early.done());
  BOOST_TEST((early.error() == spool_errc::io_failed));
  BOOST_TEST(!life.status().is_open);
  BOOST_TEST((life.status().error == spool_errc::io_failed));
  BOOST_TEST(life.status().trouble.find("spool.db") != std::string::npos);
  auto& late = life.put("2");
  life.recover();
  BOOST_TEST_REQUIRE(late.done());
  BOOST_TEST(!late.error());
  BOOST_TEST(life.status().is_open);
}

BOOST_AUTO_TEST_CASE(without_room_a_put_waits_in_line_or_is_rejected) {
  for (const auto when : {spool_full::wait, spool_full::reject}) {
    for (const bool by_bytes : {false, true}) {
      auto options = small_spool();
      options.when_full = when;
      if (by_bytes) {
        options.most_bytes = 2 * 65;
      } else {
        options.most_messages = 2;
      }
      spool_remains remains;
      remains.items->is_away = true;
      spooling_process life(remains, options);
      life.settle();
      std::vector<recorder<std::uint64_t>*> puts;
      for (int i = 1; i <= 4; ++i) puts.push_back(&life.put(std::to_string(i)));
      life.pass(10ms);
      BOOST_TEST(life.status().spooled == 2u);
      const bool waits = when == spool_full::wait;
      BOOST_TEST(life.status().waiting == (waits ? 2u : 0u));
      BOOST_TEST(puts[2]->done() == !waits);
      if (!waits) BOOST_TEST((puts[2]->error() == errc::full));
      remains.items->is_away = false;
      life.recover();
      BOOST_TEST(remains.items->all.size() == (waits ? 4u : 2u));
      BOOST_TEST(life.status().lag_bytes == 0u);
      BOOST_TEST(puts[3]->done());
    }
  }
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_while_the_queue_is_away_and_what_is_on_the_disk_is_put) {
  auto options = small_spool();
  options.most_memory = 1'000;
  options.count = 100;
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains, options);
  for (int i = 1; i <= 200; ++i) {
    life.put(std::to_string(i));
    life.settle();
  }
  life.recover();
  BOOST_TEST(life.status().spooled == 200u);
  BOOST_TEST(life.status().memory <= 1'000u);
  remains.items->is_away = false;
  for (int i = 0; i < 20; ++i) life.recover();
  BOOST_TEST(remains.items->all.size() == 200u);
  BOOST_TEST(life.status().memory == 0u);
}

BOOST_AUTO_TEST_CASE(one_message_always_has_room) {
  auto options = small_spool();
  options.most_memory = options.most_bytes = options.most_messages = 1;
  spool_remains remains;
  spooling_process life(remains, options);
  for (int i = 1; i <= 5; ++i) life.put(std::to_string(i) + std::string(500, '0'));
  auto end = life.flush();
  life.recover();
  for (const auto& [name, what] : life.told()) BOOST_TEST(what == "ok");
  BOOST_TEST(remains.items->all.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_put_that_waits_for_room_is_cancelled_and_not_accepted) {
  auto options = small_spool();
  options.most_messages = 1;
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains, options);
  life.put("1");
  auto& second = life.put("2");
  auto& third = life.put("3");
  life.pass(10ms);
  second.cancel();
  life.settle();
  BOOST_TEST_REQUIRE(second.done());
  BOOST_TEST((second.error() == boost::asio::error::operation_aborted));
  remains.items->is_away = false;
  life.recover();
  BOOST_TEST(third.done());
  const std::vector<std::string> expected{"1", "3"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_an_accepted_put_only_the_wait_is_cancelled) {
  spool_remains remains;
  spooling_process life(remains);
  life.settle();
  auto& first = life.put("1");
  auto& through = life.put_through("2");
  life.settle();
  first.cancel();
  through.cancel();
  life.settle();
  BOOST_TEST_REQUIRE((first.done() && through.done()));
  life.recover();
  BOOST_TEST(first.calls() == 1);
  BOOST_TEST(through.calls() == 1);
  BOOST_TEST((through.error() == boost::asio::error::operation_aborted));
  const std::vector<std::string> expected{"1", "2"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_can_never_be_put_is_not_accepted) {
  spool_remains remains;
  spooling_process life(remains);
  auto& large = life.put(std::string(1'001, 'x'));
  life.settle();
  BOOST_TEST_REQUIRE(large.done());
  BOOST_TEST((large.error() == errc::too_large));
}

BOOST_AUTO_TEST_SUITE_END()

// The queue answers while the disk is still at work.

namespace {

/// The file has 1 to 10 and knows of none that it was put; the queue has 1 to 7.
spool_remains left_behind() {
  spool_remains remains;
  auto& seen = remains.file->seen;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    seen.rows[i] = {i, "", std::to_string(i)};
    if (i <= 7) remains.items->add({std::to_string(i)});
  }
  seen.extent.last = 10;
  remains.file->sync();
  return remains;
}

spool_options large_batches() {
  auto options = small_spool();
  options.count = 100;  // nothing is removed before so many were put
  return options;
}

/// Messages 11 to 14 are being written when the queue says how far it is. The process ends so many steps later.
void live_with_overlap(spool_remains& remains, spool_judge& judge, int steps) {
  remains.items->is_away = true;
  spooling_process life(remains, large_batches());
  life.settle();
  for (int i = 11; i <= 14; ++i) life.put(std::to_string(i));
  life.settle();
  life.disk().hold();
  life.pass(5ms);
  BOOST_TEST_REQUIRE(remains.file->seen.rows.size() == 14u, "they are written");
  BOOST_TEST_REQUIRE(life.told().back().second == "", "and not told of it");
  remains.items->is_away = false;
  life.pass(100ms);
  life.plan().crash_at = life.plan().step + steps;
  life.disk().release();
  life.recover();
  judge.record_life(life);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_overlaps)

BOOST_AUTO_TEST_CASE(an_answer_of_the_queue_during_a_transaction_counts_when_it_is_in_the_file) {
  for (int steps = 0; steps <= 15; ++steps) {
    BOOST_TEST_CONTEXT("end " << steps << " steps behind the transaction") {
      auto remains = left_behind();
      spool_judge judge;
      live_with_overlap(remains, judge, steps);
      spooling_process next(remains);
      next.put("100");
      next.recover();
      BOOST_TEST(next.status().lag == 0u);
      BOOST_TEST(next.status().gap == 0u);
      judge.record_life(next);
      judge.judge(remains.items->all, false);
      BOOST_TEST_REQUIRE(!remains.items->all.empty());
      BOOST_TEST(remains.items->all.back() == "100");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
