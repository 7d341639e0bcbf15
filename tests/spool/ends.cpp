// How a spooled producer is flushed, closed and destroyed.
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

spool_options slow() {
  auto options = small_spool();
  options.interval = 60s;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_ends)

BOOST_AUTO_TEST_CASE(a_flush_does_not_wait_for_the_interval) {
  spool_remains remains;
  spooling_process life(remains, slow());
  life.settle();
  life.put("1");
  auto end = life.flush();
  life.settle();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST(!end.error());
  BOOST_TEST(remains.items->all.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_flush_ends_with_its_time_or_its_cancellation) {
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains);
  life.settle();
  life.put("1");
  auto timed = life.flush(3s);
  auto cancelled = life.flush();
  auto none = life.flush(0s);
  life.settle();
  BOOST_TEST_REQUIRE(none.done());
  BOOST_TEST((none.error() == errc::timed_out));
  cancelled.cancel();
  life.pass(3s);
  BOOST_TEST_REQUIRE((timed.done() && cancelled.done()));
  BOOST_TEST((timed.error() == errc::timed_out));
  BOOST_TEST((cancelled.error() == boost::asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(a_flush_tells_that_a_message_could_not_be_written) {
  spool_remains remains;
  spooling_process life(remains, slow());
  life.recover();
  life.plan().fault_at = life.plan().step;
  life.put("1");
  auto end = life.flush();
  life.settle();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST((end.error() == spool_errc::disk_full));
}

BOOST_AUTO_TEST_CASE(a_close_puts_everything_and_ends_the_thread) {
  spool_remains remains;
  spooling_process life(remains, slow());
  life.settle();
  auto& put = life.put("1");
  auto end = life.close();
  auto& late = life.put("2");
  life.settle();
  BOOST_TEST_REQUIRE((end.done() && put.done() && late.done()));
  BOOST_TEST(!end.error());
  BOOST_TEST(!put.error());
  BOOST_TEST((late.error() == errc::closed));
  BOOST_TEST(life.disk().is_stopped());
  BOOST_TEST(remains.file->seen.rows.empty());
  auto again = life.close();
  auto flush = life.flush();
  life.settle();
  BOOST_TEST_REQUIRE((again.done() && flush.done()));
  BOOST_TEST(!again.error());
}

BOOST_AUTO_TEST_CASE(a_close_writes_what_could_not_be_put) {
  for (const auto durability : {spool_durability::memory, spool_durability::power}) {
    auto options = slow();
    options.durability = durability;
    options.most_messages = 2;
    spool_remains remains;
    remains.items->is_away = true;
    {
      spooling_process life(remains, options);
      life.settle();
      life.put("1");
      auto& through = life.put_through("2");
      auto& waiting = life.put("3");
      life.settle();
      auto end = life.close(2s);
      life.settle();
      BOOST_TEST_REQUIRE(waiting.done());
      BOOST_TEST((waiting.error() == errc::closed));
      BOOST_TEST(!end.done());
      life.pass(2s);
      BOOST_TEST_REQUIRE(end.done());
      BOOST_TEST((end.error() == errc::timed_out));
      BOOST_TEST_REQUIRE(through.done());
      BOOST_TEST((through.error() == errc::closed));
      BOOST_TEST(remains.file->synced.rows.size() == 2u);
    }
    remains.items->is_away = false;
    spooling_process next(remains);
    next.recover();
    const std::vector<std::string> expected{"1", "2"};
    BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_close_that_can_not_write_says_so) {
  auto options = slow();
  options.durability = spool_durability::memory;
  spool_remains remains;
  spooling_process life(remains, options);
  life.recover();
  life.put("1");
  life.settle();
  remains.items->is_away = true;
  life.plan().fault_at = life.plan().step;
  auto end = life.close();
  life.recover();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST((!end.error() || end.error() == errc::timed_out || end.error() == spool_errc::disk_full));
  BOOST_TEST(life.disk().is_stopped());
}

BOOST_AUTO_TEST_CASE(a_close_without_a_file_ends) {
  spool_remains remains;
  spooling_process life(remains, small_spool(), {.fault_at = 0});
  auto end = life.close();
  life.recover();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST((!end.error() || end.error() == spool_errc::io_failed));
}

BOOST_AUTO_TEST_CASE(a_flush_waits_for_the_file_and_for_what_waits_for_room) {
  spool_remains remains;
  remains.items->is_away = true;
  {
    spooling_process before(remains);
    before.put("1");
    before.recover();
    BOOST_TEST_REQUIRE(remains.file->synced.rows.size() == 1u);
  }
  auto options = slow();
  options.most_messages = 2;
  spooling_process life(remains, options);
  life.disk().hold();
  life.settle();
  life.put("2");
  auto& last = life.put("3");
  auto end = life.flush();
  life.settle();
  BOOST_TEST(!end.done(), "the file is not open");
  life.disk().release();
  life.settle();
  BOOST_TEST(!end.done(), "the queue is away");
  BOOST_TEST(life.status().waiting == 1u);
  remains.items->is_away = false;
  life.recover();
  BOOST_TEST_REQUIRE((end.done() && last.done()));
  BOOST_TEST(!end.error());
  const std::vector<std::string> expected{"1", "2", "3"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_flush_tells_that_the_file_could_not_be_opened) {
  spool_remains remains;
  spooling_process life(remains, small_spool(), {.fault_at = 0});
  auto end = life.flush();
  life.settle();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST((end.error() == spool_errc::io_failed));
}

BOOST_AUTO_TEST_CASE(a_close_before_the_file_is_open_puts_what_is_in_it) {
  for (const bool is_away : {false, true}) {
    spool_remains remains;
    remains.items->is_away = true;
    {
      spooling_process before(remains);
      before.put("1");
      before.recover();
    }
    remains.items->is_away = is_away;
    spooling_process life(remains);
    life.disk().hold();
    auto end = life.close(2s);
    life.settle();
    BOOST_TEST(!end.done());
    life.disk().release();
    life.recover();
    BOOST_TEST_REQUIRE(end.done());
    BOOST_TEST((end.error() == (is_away ? make_error_code(errc::timed_out) : error_code())));
    BOOST_TEST(remains.items->all.size() == (is_away ? 0u : 1u));
    auto again = life.close();
    life.settle();
    BOOST_TEST_REQUIRE(again.done());
    BOOST_TEST((again.error() == (is_away ? make_error_code(errc::closed) : error_code())));
  }
}

BOOST_AUTO_TEST_CASE(a_close_with_one_failure_of_the_file_tells_what_is_left) {
  for (const auto durability : {spool_durability::memory, spool_durability::power}) {
    auto options = slow();
    options.durability = durability;
    spool_remains remains;
    spooling_process life(remains, options);
    life.recover();
    remains.items->is_away = true;
    life.put("1");
    auto flushed = life.flush(1s);
    life.recover();
    life.put("2");
    life.settle();
    life.plan().fault_at = life.plan().step;
    auto end = life.close();
    life.recover();
    BOOST_TEST_REQUIRE(end.done());
    BOOST_TEST(life.status().lag > 0u);
    BOOST_TEST((end.error() == spool_errc::disk_full));
    BOOST_TEST(remains.file->synced.rows.size() == (durability == spool_durability::memory ? 2u : 1u));
  }
}

BOOST_AUTO_TEST_CASE(a_disk_that_takes_no_transaction_is_tried_once_a_second_and_does_not_keep_a_close) {
  auto options = small_spool();
  options.durability = spool_durability::memory;
  spool_remains remains;
  spooling_process life(remains, options);
  life.recover();
  life.disk().refuse_commits();
  life.put("1");
  life.pass(5ms);
  for (int i = 1; i <= 5; ++i) {
    BOOST_TEST(life.disk().refusals() == i);
    life.pass(1s);
  }
  auto end = life.close();
  life.recover();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST((end.error() == spool_errc::disk_full));
  BOOST_TEST(life.disk().is_stopped());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_object_answers_everybody) {
  auto options = slow();
  options.most_messages = 3;
  spool_remains remains;
  remains.items->is_away = true;
  spooling_process life(remains, options);
  life.settle();
  auto& through = life.put_through("1");
  auto flushed = life.flush();
  life.settle();
  auto& unwritten = life.put("2");
  life.put("3");
  auto& last = life.put("4");
  life.settle();
  auto close = life.close();
  life.destroy_spool();
  life.settle();
  for (auto* each : {&through, &last}) {
    BOOST_TEST_REQUIRE(each->done());
    BOOST_TEST((each->error() == errc::closed));
  }
  BOOST_TEST(unwritten.done());
  BOOST_TEST_REQUIRE((flushed.done() && close.done()));
  BOOST_TEST((flushed.error() == errc::closed));
  BOOST_TEST((close.error() == errc::closed));
  BOOST_TEST(life.disk().is_stopped());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_context_drops_callers_that_own_the_producer) {
  spool_remains remains;
  remains.items->is_away = true;
  std::weak_ptr<spooled_producer> watched;
  std::weak_ptr<simulated_disk> watched_disk;
  {
    fake_bench bench;
    auto on = bench.make_scheduler();
    auto plan = std::make_shared<step_plan>();
    auto disk = std::make_shared<simulated_disk>(on->strand, remains.file, plan, spool_durability::power);
    auto queue = std::make_unique<simulated_queue>(on->strand, remains.items, plan, put_fault::refused);
    auto state = std::make_shared<detail::spool_state>(on, small_spool(), std::move(queue), disk);
    watched_disk = disk;
    disk.reset();  // like all that has an executor it must go before the context does
    on.reset();
    state->start();
    auto mine = std::make_shared<spooled_producer>(std::move(state));
    watched = mine;
    bench.settle();
    mine->async_put_through("", "1", [mine](error_code, std::uint64_t) {});
    bench.advance(10ms);
    mine->async_put("", "2", [mine](error_code, std::uint64_t) {});
    mine->async_flush(60s, [mine](error_code) {});
    mine.reset();
    bench.settle();
    BOOST_TEST(!watched.expired());
    bench.destroy_context();
    BOOST_TEST(watched_disk.expired());
  }
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(an_object_that_stands_for_nothing_is_closed) {
  boost::asio::io_context io;
  spooled_producer nothing;
  recorder<std::uint64_t> put(io.get_executor());
  recorder<> flush(io.get_executor());
  recorder<> close(io.get_executor());
  nothing.async_put("", "", put.token());
  nothing.async_flush(1s, flush.token());
  nothing.async_close(1s, close.token());
  io.run();
  BOOST_TEST((put.error() == errc::closed));
  BOOST_TEST((flush.error() == errc::closed));
  BOOST_TEST((close.error() == errc::closed));
  BOOST_TEST(nothing.path().empty());
  BOOST_TEST(!nothing.status().is_open);
}

BOOST_AUTO_TEST_SUITE_END()
