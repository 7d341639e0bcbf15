#include "limit/make_limiter.hpp"

#include <string>

#include "limit/arrival_rule.hpp"
#include "limit/keyed_limiter.hpp"
#include "limit/limiter.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

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
