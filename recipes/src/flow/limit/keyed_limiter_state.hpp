// The tables of a keyed limiter: several, so that threads seldom wait for each other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "limit/key_table.hpp"

namespace zkrecipes::detail {

class keyed_limiter_state {
 public:
  /// `options` have been checked.
  keyed_limiter_state(scheduler_ptr on, const keyed_limiter_options& options);

  bool try_acquire(std::string_view key) { return table_of(key).try_acquire(key); }
  void acquire(acquire_handler handler, std::string key);
  void hold_off(std::string_view key, lease_clock::duration length) { table_of(key).hold_off(key, length); }
  keyed_limiter_statistics statistics() const;

  const keyed_limiter_options& options() const noexcept { return options_; }
  const scheduler& get_scheduler() const noexcept { return *clock_.get_scheduler(); }

 private:
  key_table& table_of(std::string_view key) const;

  keyed_limiter_options options_;
  limit_clock clock_;
  std::vector<std::shared_ptr<key_table>> tables_;
};

}  // namespace zkrecipes::detail
