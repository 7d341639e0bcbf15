// Makes the inside of limiters: checks the options, makes the world. The tests give it a world of theirs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "limit/arrival_rule.hpp"
#include "session/make.hpp"

namespace zkrecipes::detail {

// The bounds of the options that all limits have.

inline void require_option(bool is_right, std::string_view type, std::string_view field, const std::string& value,
                           std::string_view wanted) {
  if (is_right) return;
  throw std::invalid_argument(std::string(type).append("::").append(field).append(" is ").append(value).append("; ") +
                              std::string(wanted));
}

inline std::string in_nanoseconds(lease_clock::duration length) { return std::to_string(length.count()) + " ns"; }

/// \throws std::invalid_argument naming the type and the field.
template <class Options>
void check_rate(std::string_view type, const Options& options) {
  constexpr std::uint64_t largest_number = 1'000'000'000;
  constexpr std::string_view whole_range = "it must be from 1 to 1000000000";
  const lease_clock::duration per = options.per;
  require_option(options.rate >= 1 && options.rate <= largest_number, type, "rate", std::to_string(options.rate),
                 whole_range);
  require_option(per >= std::chrono::microseconds(1) && per <= longest_span, type, "per", in_nanoseconds(per),
                 "it must be from 1 us to 366 days");
  require_option(options.burst >= 1 && options.burst <= largest_number, type, "burst", std::to_string(options.burst),
                 whole_range);
  const auto seconds = std::chrono::duration<double>(per).count() * static_cast<double>(options.burst);
  const auto longest = std::chrono::duration<double>(longest_span).count() * static_cast<double>(options.rate);
  require_option(seconds <= longest, type, "burst", std::to_string(options.burst),
                 "it must come back, at this rate, within 366 days");
}

class limiter_state;
class keyed_limiter_state;

/// \throws std::invalid_argument naming the executor or the field.
std::shared_ptr<limiter_state> make_limiter(const asio::any_io_executor& executor, const limiter_options& options,
                                            const world_factory& world);
std::shared_ptr<keyed_limiter_state> make_keyed_limiter(const asio::any_io_executor& executor,
                                                        const keyed_limiter_options& options,
                                                        const world_factory& world);

}  // namespace zkrecipes::detail
