// Operations whose ends are recorded.
#pragma once

#include <functional>
#include <source_location>
#include <tuple>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/test/unit_test.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

/// Completion token: the operation returns its recorder. Behind the start `then` is called, if there is one.
struct recorded_on {
  asio::any_io_executor executor;
  std::function<void()> then = {};
};

template <class Recorder>
boost::test_tools::assertion_result ended_with(const Recorder& which, error_code why) {
  boost::test_tools::assertion_result is_so(which.calls() == 1 && which.error() == why);
  if (!is_so) {
    is_so.message() << (which.done() ? "it ended with: " + which.error().message() : "it has not ended");
    if (which.calls() > 1) is_so.message() << ", " << which.calls() << " times";
  }
  return is_so;
}
template <class Recorder>
boost::test_tools::assertion_result succeeded(const Recorder& which) {
  return ended_with(which, error_code());
}

/// The result of an operation that the case can not go on without.
template <class... Result>
auto must(std::tuple<error_code, Result...> ended, std::source_location where = std::source_location::current()) {
  const auto error = std::get<0>(ended);
  BOOST_TEST_REQUIRE(!error, error.message() << " from line " << where.line());
  if constexpr (sizeof...(Result) > 0) return std::get<1>(std::move(ended));
}

}  // namespace zkrecipes::test

template <class... Results>
struct boost::asio::async_result<zkrecipes::test::recorded_on, void(zkrecipes::error_code, Results...)> {
  template <class Start, class... Args>
  static auto initiate(Start start, zkrecipes::test::recorded_on how, Args&&... args) {
    zkrecipes::test::recorder<Results...> told(how.executor);
    auto token = told.token();
    boost::asio::async_initiate<decltype(token), void(zkrecipes::error_code, Results...)>(std::move(start), token,
                                                                                          std::forward<Args>(args)...);
    if (how.then) how.then();
    return told;
  }
};
