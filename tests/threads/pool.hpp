// A context that several threads run. The case itself runs in one more thread, which waits for futures.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/framework.hpp>

#include <zkrecipes/session.hpp>

#include "support/cluster.hpp"
#include "support/coroutine.hpp"
#include "support/process.hpp"

namespace zkrecipes::test {

/// A future of all results, the error first. (In Boost 1.81 `as_tuple` can not be combined with `use_future`.)
inline const auto future =
    asio::use_future([](error_code error, auto... results) { return std::tuple(error, std::move(results)...); });

class pool {
 public:
  static constexpr int width = 4;

  pool()
      : root_("/" + boost::unit_test::framework::current_test_case().p_name.get()), work_(asio::make_work_guard(io_)) {
    cluster();
    for (int i = 0; i < width; ++i) threads_.emplace_back([this] { io_.run(); });
    admin_.emplace(connect());
  }
  /// Fails the case unless the context runs out of work when the sessions are gone, and the nodes can be removed in the
  /// order given to `leaves`.
  void teardown() {
    for (const auto& each : left_) {
      auto removed = get(admin_->async_remove(each, any_version, future));
      BOOST_TEST(!std::get<0>(removed), each << ": " << std::get<0>(removed).message());
    }
    admin_.reset();
    work_.reset();
    BOOST_TEST(wait_until([&] { return io_.stopped(); }, 10s), "the context still has work");
    io_.stop();
    for (auto& each : threads_) each.join();
  }

  asio::io_context& io() { return io_; }
  session& admin() { return *admin_; }
  session connect() {
    session_options options;
    options.hosts = join_hosts(proxy_hosts());
    options.root = root_;
    options.create_root = true;
    return session(io_.get_executor(), std::move(options));
  }
  /// Announces a node that the case leaves behind. `teardown` removes these nodes in the order of the calls.
  void leaves(const std::string& path) { left_.push_back(path); }

  template <class T>
  static T get(std::future<T> result) {
    BOOST_TEST_REQUIRE((result.wait_for(time_limit) == std::future_status::ready), "the operation did not end in time");
    return result.get();
  }
  void create(const std::string& path) {
    auto made = get(admin_->async_create(path, "", create_mode::persistent, future));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }
  node_children children(const std::string& path) {
    get(admin_->async_commit(transaction().check("/nothing-of-this-name"), future));  // like `fixture::catch_up`
    auto found = get(admin_->async_children(path, future));
    BOOST_TEST_REQUIRE(!std::get<0>(found), std::get<0>(found).message());
    return std::get<1>(found);
  }
  /// Calls a function again and again in a thread of its own, until the object is destroyed.
  class disturber {
   public:
    explicit disturber(std::function<void()> what)
        : thread_([this, what = std::move(what)] {
            while (!stop_) {
              what();
              std::this_thread::yield();
            }
          }) {}
    ~disturber() {
      stop_ = true;
      thread_.join();
    }

   private:
    std::atomic<bool> stop_ = false;
    std::thread thread_;
  };

 private:
  std::string root_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
  std::optional<session> admin_;
  std::vector<std::string> left_;
};

}  // namespace zkrecipes::test
