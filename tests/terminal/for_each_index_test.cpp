// Many small tasks of one coroutine.
#include <algorithm>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include "base/tasks.hpp"

namespace {

namespace asio = boost::asio;

struct indexed_work {
  explicit indexed_work(asio::io_context& io) : answer(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer answer;  // what each task waits for
  int begun = 0;
  int ended = 0;
  bool has_left = false;
};

asio::awaitable<void> wait_for_answer(std::shared_ptr<indexed_work> work) {
  ++work->begun;
  co_await work->answer.async_wait(zkadmin::as_result);
  ++work->ended;
}

asio::awaitable<void> own_the_work(std::shared_ptr<indexed_work> work, std::size_t count, std::size_t width) {
  struct at_end {
    std::shared_ptr<indexed_work> work;
    ~at_end() { work->has_left = true; }
  };
  const at_end end{work};
  const auto one = [work](std::size_t) { return wait_for_answer(work); };
  co_await zkadmin::for_each_index(count, width, one);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(for_each_index_suite)

BOOST_AUTO_TEST_CASE(some_at_a_time) {
  asio::io_context io;
  const auto work = std::make_shared<indexed_work>(io);
  const zkadmin::background_task task(io.get_executor(), own_the_work(work, 5, 2));
  for (int done = 0; done < 6; done += 2) {
    io.poll();
    BOOST_TEST(work->begun == std::min(done + 2, 5));
    BOOST_TEST(work->ended == done);
    BOOST_TEST(!work->has_left);
    work->answer.cancel();
  }
  io.poll();
  BOOST_TEST(work->ended == 5);
  BOOST_TEST(work->has_left);
}

// The tasks use what the caller owns.
BOOST_AUTO_TEST_CASE(a_caller_that_is_cancelled_waits_for_the_tasks) {
  asio::io_context io;
  const auto work = std::make_shared<indexed_work>(io);
  {
    const zkadmin::background_task task(io.get_executor(), own_the_work(work, 3, 3));
    io.poll();
    BOOST_TEST(work->begun == 3);
  }
  io.poll();
  BOOST_TEST(!work->has_left);
  BOOST_TEST(work->ended == 0);
  work->answer.cancel();
  io.poll();
  BOOST_TEST(work->ended == 3);
  BOOST_TEST(work->has_left);
}

BOOST_AUTO_TEST_SUITE_END()
