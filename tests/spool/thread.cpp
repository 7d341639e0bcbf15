// The thread of the disk beside the threads of a program. There is no ensemble: everything stays in the file.
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/file_case.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class threaded : public file_case {
 public:
  spooled_producer make(asio::io_context& io, spool_durability durability = spool_durability::process,
                        const std::string& root = "") {
    session zk(io, {.hosts = "127.0.0.1:1", .root = root});
    spool_options how;
    how.file = path();
    how.durability = durability;
    how.count = 50;
    return spooled_producer(topic(std::move(zk), "/t"), "p", how);
  }

  static constexpr int callers = 4;
  static constexpr int puts_of_each = 500;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spool_threads, threaded)

BOOST_AUTO_TEST_CASE(puts_of_several_threads_are_all_written) {
  std::set<std::uint64_t> numbers;
  std::mutex mutex;
  std::atomic<int> failed = 0;
  {
    asio::io_context io;
    auto by = make(io);
    std::atomic<int> open = callers * puts_of_each;
    std::vector<std::thread> all;
    for (int i = 0; i < callers; ++i) {
      all.emplace_back([&] {
        for (int k = 0; k < puts_of_each; ++k) {
          by.async_put("key", "data", [&](error_code error, std::uint64_t number) {
            if (error) ++failed;
            std::lock_guard lock(mutex);
            numbers.insert(number);
            if (--open == 0) io.stop();
          });
        }
        io.run();
      });
    }
    for (auto& each : all) each.join();
  }
  BOOST_TEST(failed == 0);
  BOOST_TEST(numbers.size() == static_cast<std::size_t>(callers * puts_of_each));
  BOOST_TEST(*numbers.rbegin() == static_cast<std::uint64_t>(callers * puts_of_each));
  detail::spool_file file({path(), "/t", "p", spool_durability::process});
  const auto found = file.open({});
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(found.extent.last == static_cast<std::uint64_t>(callers * puts_of_each));
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_destroys_its_copy_without_waiting) {
  auto io = std::make_unique<asio::io_context>();
  std::optional<spooled_producer> by(make(*io));
  const auto put = [&](std::uint64_t wanted) {
    by->async_put("key", "data", [&, wanted](error_code error, std::uint64_t number) {
      BOOST_TEST(!error, error.message());
      BOOST_TEST(number == wanted);
      io->stop();
    });
    io->restart();
    io->run();
  };
  put(1);
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(60);
    by.reset();
    io.reset();
    ::_exit(0);
  }
  BOOST_TEST_REQUIRE(child > 0);
  int status = -1;
  BOOST_TEST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  put(2);
}

BOOST_AUTO_TEST_CASE(a_file_is_not_that_of_another_root) {
  const auto put = [&](const std::string& root) {
    asio::io_context io;
    auto by = make(io, spool_durability::process, root);
    error_code result;
    by.async_put("key", "data", [&](error_code error, std::uint64_t) {
      result = error;
      io.stop();
    });
    io.run();
    return result;
  };
  BOOST_TEST(!put("/a"));
  BOOST_TEST((put("/b") == spool_errc::foreign_file));
  BOOST_TEST((put("") == spool_errc::foreign_file));
  BOOST_TEST(!put("/a"));
}

BOOST_AUTO_TEST_CASE(an_object_that_ends_answers_each_put_once) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> answered = 0;
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    std::thread runs([&] { io.run(); });
    {
      auto by = make(io, round % 2 ? spool_durability::process : spool_durability::power);
      for (int k = 0; k < 40 * round; ++k) by.async_put("key", "data", [&](error_code, std::uint64_t) { ++answered; });
    }
    work.reset();
    runs.join();
    BOOST_TEST(answered == 40 * round);
  }
}

BOOST_AUTO_TEST_CASE(a_context_that_ends_ends_the_thread_first) {
  for (int round = 0; round < 10; ++round) {
    {
      asio::io_context io;
      auto mine = std::make_shared<spooled_producer>(make(io));
      for (int k = 0; k < 200; ++k) mine->async_put_through("key", "data", [mine](error_code, std::uint64_t) {});
      mine.reset();
      for (int k = 0; k < round; ++k) io.run_one_for(10ms);
    }  // the handlers own the object as well
    detail::spool_file file({path(), "/t", "p", spool_durability::process});
    BOOST_TEST(!file.open({}).error, "the file is free");
  }
}

BOOST_AUTO_TEST_SUITE_END()
