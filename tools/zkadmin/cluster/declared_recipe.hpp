// A recipe that the user has declared, because nothing in the tree tells its kind.
#pragma once

#include <string>

#include "cluster/recognize.hpp"

namespace zkadmin {

struct declared_recipe {
  recipe kind = recipe::none;
  std::string path{};
  friend bool operator==(const declared_recipe&, const declared_recipe&) = default;
};

}  // namespace zkadmin
