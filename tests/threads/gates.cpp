// A gate that many threads use at once. It needs no ensemble.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::size_t width = 4;

struct crossing {
  crossing() : work(asio::make_work_guard(io)) {
    for (std::size_t i = 0; i < width; ++i) serving.emplace_back([this] { io.run(); });
  }
  ~crossing() {
    work.reset();
    for (auto& each : serving) each.join();
  }

  /// Enters and waits for the answer. On any thread, so nothing is asserted here.
  static std::pair<error_code, gate_pass> enter(gate& into, const std::string& key) {
    std::promise<std::pair<error_code, gate_pass>> answer;
    into.async_enter(key, [&](error_code error, gate_pass pass) { answer.set_value({error, std::move(pass)}); });
    return answer.get_future().get();
  }
  static void in_threads(const std::function<void(std::size_t)>& what) {
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < width; ++i) all.emplace_back(what, i);
    for (auto& each : all) each.join();
  }

  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::vector<std::thread> serving;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(gates, crossing)

BOOST_AUTO_TEST_CASE(one_processes_a_key_at_a_time) {
  gate g(io);
  std::array<int, 3> inside{};  // guarded by the gate, which has to order all that is done with passes
  std::atomic<int> entered = 0;
  std::atomic<int> together = 0;
  in_threads([&](std::size_t which) {
    for (std::size_t i = 0; i < 3000; ++i) {
      const auto key = (which + i) % inside.size();
      gate_pass pass;
      if (i % 2 == 0) {
        if (auto tried = g.try_enter(std::to_string(key))) pass = std::move(*tried);
      } else {
        pass = enter(g, std::to_string(key)).second;
      }
      if (!pass.valid()) continue;
      ++entered;
      together += ++inside[key] != 1;
      --inside[key];
    }
  });
  BOOST_TEST(together == 0);
  BOOST_TEST(entered > 1000);
  BOOST_TEST(g.statistics().active == 0u);
  BOOST_TEST(g.statistics().accepted == static_cast<std::uint64_t>(entered));
}

BOOST_AUTO_TEST_CASE(nothing_that_was_written_before_a_decline_is_lost) {
  constexpr int changes = 3000;
  for (const auto which_waits : {keep::first, keep::newest}) {
    gate g(io, {.keep = which_waits});
    std::array<std::atomic<int>, width> written{};
    std::array<int, width> seen{};  // guarded by the gate
    std::atomic<int> open = 0;
    in_threads([&](std::size_t which) {
      for (int i = 1; i <= changes; ++i) {
        written[which].store(i, std::memory_order_relaxed);
        ++open;
        g.async_enter("cache", [&](error_code error, gate_pass pass) {
          for (std::size_t k = 0; !error && k < width; ++k) seen[k] = written[k].load(std::memory_order_relaxed);
          pass.leave();
          --open;
        });
      }
    });
    const auto until = std::chrono::steady_clock::now() + time_limit;
    while (open > 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    BOOST_TEST_REQUIRE(open == 0);
    const auto last = enter(g, "cache");  // orders the looks below behind the last processing
    for (const int each : seen) BOOST_TEST(each == changes);
    BOOST_TEST(g.statistics().accepted + g.statistics().declined == changes * width + 1);
  }
}

BOOST_AUTO_TEST_CASE(callers_are_cancelled_while_the_key_changes_hands) {
  gate g(io);
  int aborted = 0;
  for (int i = 0; i < 300; ++i) {
    auto held = g.try_enter("k");
    BOOST_TEST_REQUIRE(held.has_value());
    // A signal and its handler share a strand, as Asio requires; the pass is left on this thread.
    auto strand = asio::make_strand(io);
    auto signal = std::make_shared<asio::cancellation_signal>();
    std::promise<error_code> ended;
    asio::post(strand, [&, signal] {
      g.async_enter("k", asio::bind_cancellation_slot(
                             signal->slot(), asio::bind_executor(strand, [&, signal](error_code why, gate_pass pass) {
                               pass.leave();
                               ended.set_value(why);
                             })));
    });
    asio::post(strand, [signal] { signal->emit(asio::cancellation_type::total); });
    if (i % 2 == 0) std::this_thread::yield();
    held->leave();
    auto answer = ended.get_future();
    BOOST_TEST_REQUIRE((answer.wait_for(time_limit) == std::future_status::ready));
    const auto why = answer.get();
    BOOST_TEST((!why || why == asio::error::operation_aborted));
    aborted += why.failed();
  }
  BOOST_TEST_MESSAGE(aborted << " were cancelled");
  BOOST_TEST(g.statistics().active == 0u);
}

BOOST_AUTO_TEST_CASE(those_that_wait_too_long_get_in_by_the_clock) {
  gate g(io, {.safety = 20ms});
  std::atomic<int> good = 0;
  in_threads([&](std::size_t which) {
    for (int i = 0; i < 10; ++i) {
      const auto key = std::to_string(which);
      auto slow = g.try_enter(key);
      auto [error, pass] = enter(g, key);
      good += !error && slow && !slow->valid();
    }
  });
  BOOST_TEST(good == 10 * static_cast<int>(width));
  BOOST_TEST(g.statistics().evicted > 0u);
}

BOOST_AUTO_TEST_CASE(passes_are_left_while_the_gate_ends) {
  for (int i = 0; i < 200; ++i) {
    auto g = std::make_unique<gate>(io);
    std::atomic<int> told = 0;
    std::vector<std::optional<gate_pass>> passes;
    for (int k = 0; k < 8; ++k) {
      passes.push_back(g->try_enter(std::to_string(k)));
      g->async_enter(std::to_string(k), [&](error_code, gate_pass) { ++told; });
    }
    std::thread leaving([&] { passes.clear(); });
    g.reset();
    leaving.join();
    const auto until = std::chrono::steady_clock::now() + time_limit;
    while (told < 8 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    BOOST_TEST_REQUIRE(told == 8);
  }
}

BOOST_AUTO_TEST_SUITE_END()
