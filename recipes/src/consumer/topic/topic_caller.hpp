// The completion of a put, with its executor.
#pragma once

#include <cstdint>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/dispatch.hpp>

#include <zkrecipes/detail/initiate.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

class topic_caller {
 public:
  using handler = handler_for<void(error_code, std::uint64_t)>;

  topic_caller(const scheduler& on, handler whose) : whose_(std::move(whose)), target_(target_of(whose_, on)) {}

  /// Calls the handler on its executor, unless it was told before. Outside of the strand.
  void complete(error_code error, std::uint64_t number) {
    if (!whose_) return;
    asio::dispatch(target_, [h = std::move(whose_), error, number]() mutable { std::move(h)(error, number); });
  }

 private:
  handler whose_;
  asio::any_completion_executor target_;
};

}  // namespace zkrecipes::detail
