// How often an item was handed out, by the numbers that the server keeps.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/node.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes::detail {

/// How often an item has been handed out. Each claim creates a node below the item and removes it again, which the
/// item's `cversion` counts. A claim that is taken back before anybody was told of the item writes the item's data once
/// more, which the item's `version` counts.
std::int32_t attempts_of(const node_stat& item);
/// Adds the operations that raise this count by so many.
void count_attempts(transaction& all, const std::string& item, std::int32_t so_many);

}  // namespace zkrecipes::detail
