#include "delivery/parked_keys.hpp"

#include <utility>

#include "queue/queue_layout.hpp"

namespace zkrecipes::detail {

awaitable<error_code> parked_keys::prepare(key_marks& from) {
  if (!is_used_ || is_prepared_) co_return error_code();
  auto read = co_await from.parked_keys();
  auto& [error, marks] = read;
  if (error) co_return error;
  is_prepared_ = true;
  marks_ = std::move(marks);
  co_return error_code();
}

awaitable<outcome<std::vector<key_state>>> parked_keys::look(key_marks& from, std::vector<std::string> keys) {
  auto seen = co_await from.look_at_keys(keys);
  const auto& [error, states] = seen;
  for (std::size_t i = 0; !error && i < keys.size(); ++i) {
    if (states[i] != key_state::free) {
      add(keys[i]);
    } else if (marks_.erase(mark_of(keys[i])) != 0) {
      revived_.insert(keys[i]);
    }
  }
  co_return seen;
}

bool parked_keys::has(const std::string& key) const { return !marks_.empty() && marks_.contains(mark_of(key)); }

void parked_keys::add(const std::string& key) { marks_.insert(mark_of(key)); }

}  // namespace zkrecipes::detail
