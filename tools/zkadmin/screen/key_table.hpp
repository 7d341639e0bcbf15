// The keys. This table decides what a key does; the help and docs/zkadmin.md are made from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "screen/model.hpp"
#include "terminal/input.hpp"

namespace zkadmin {

enum class action : std::uint8_t {
  go_to,
  next_page,
  last_page,
  previous,
  up,
  down,
  page_up,
  page_down,
  half_up,
  half_down,
  wheel_up,
  wheel_down,
  first,
  last,
  open,
  back,
  filter,
  sort_left,
  sort_right,
  invert,
  command,
  refresh,
  pause,
  help,
  quit,
  suspend
};

struct key_binding {
  std::vector<stroke> typed;
  action does;
  std::string what;              ///< For people.
  page target = page::overview;  ///< The page that `go_to` leads to.
};

const std::vector<key_binding>& key_table();

/// The binding of a key; null: it has none.
const key_binding* binding_of(stroke typed);

/// The names of its keys, with `between` between them.
std::string keys_of(const key_binding& binding, const std::string& between);

}  // namespace zkadmin
