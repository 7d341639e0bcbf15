#include "limit/make_limiter.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include "limit/keyed_limiter_state.hpp"
#include "limit/limiter_state.hpp"
#include "limit/longest_times.hpp"

namespace zkrecipes::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t largest_number = 1'000'000'000;

void require_option(bool is_right, std::string_view type, std::string_view field, const std::string& value,
                    std::string_view wanted) {
  if (is_right) return;
  throw std::invalid_argument(std::string(type).append("::").append(field).append(" is ").append(value).append("; ") +
                              std::string(wanted));
}

std::string in_nanoseconds(lease_clock::duration length) { return std::to_string(length.count()) + " ns"; }

/// What both kinds of limiters have.
template <class Options>
void check_rate(std::string_view type, const Options& options) {
  const lease_clock::duration per = options.per;
  constexpr std::string_view whole_range = "it must be from 1 to 1000000000";
  require_option(options.rate >= 1 && options.rate <= largest_number, type, "rate", std::to_string(options.rate),
                 whole_range);
  require_option(per >= 1us && per <= longest_span, type, "per", in_nanoseconds(per),
                 "it must be from 1 us to 366 days");
  require_option(options.burst >= 1 && options.burst <= largest_number, type, "burst", std::to_string(options.burst),
                 whole_range);
  const auto seconds = std::chrono::duration<double>(per).count() * static_cast<double>(options.burst);
  const auto longest = std::chrono::duration<double>(longest_span).count() * static_cast<double>(options.rate);
  require_option(seconds <= longest, type, "burst", std::to_string(options.burst),
                 "it must come back, at this rate, within 366 days");
}

}  // namespace

std::shared_ptr<limiter_state> make_limiter(const asio::any_io_executor& executor, const limiter_options& options,
                                            const world_factory& world) {
  const lease_clock::duration level = options.level;
  check_rate("limiter_options", options);
  require_option(level >= 0ns && level <= longest_level, "limiter_options", "level", in_nanoseconds(level),
                 "it must be from 0 to 732 days and 1 s");
  return std::make_shared<limiter_state>(make_scheduler("limiter", executor, world), options);
}

std::shared_ptr<keyed_limiter_state> make_keyed_limiter(const asio::any_io_executor& executor,
                                                        const keyed_limiter_options& options,
                                                        const world_factory& world) {
  check_rate("keyed_limiter_options", options);
  require_option(options.most_keys >= 1 && options.most_keys <= 100'000'000, "keyed_limiter_options", "most_keys",
                 std::to_string(options.most_keys), "it must be from 1 to 100000000");
  return std::make_shared<keyed_limiter_state>(make_scheduler("keyed_limiter", executor, world), options);
}

}  // namespace zkrecipes::detail
