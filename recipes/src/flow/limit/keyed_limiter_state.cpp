#include "limit/keyed_limiter_state.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_tables = 64;
constexpr std::size_t least_keys_of_a_table = 1024;  // keys spread unevenly, and more so over small tables

}  // namespace

keyed_limiter_state::keyed_limiter_state(scheduler_ptr on, const keyed_limiter_options& options)
    : options_(options), clock_(std::move(on)) {
  const auto parts = std::bit_floor(std::clamp<std::size_t>(options.most_keys / least_keys_of_a_table, 1, most_tables));
  const auto share = (options.most_keys + parts - 1) / parts;
  for (std::size_t i = 0; i < parts; ++i) tables_.push_back(std::make_shared<key_table>(clock_, options, share));
}

/// The low bits of the hash choose the place within a table.
key_table& keyed_limiter_state::table_of(std::string_view key) const {
  return *tables_[(key_table::hash()(key) >> 48) & (tables_.size() - 1)];
}

void keyed_limiter_state::acquire(acquire_handler handler, std::string key) {
  auto& table = table_of(key);
  table.acquire(std::move(handler), std::move(key));
}

keyed_limiter_statistics keyed_limiter_state::statistics() const {
  keyed_limiter_statistics sum;
  for (const auto& each : tables_) each->add_to(sum);
  return sum;
}

}  // namespace zkrecipes::detail
