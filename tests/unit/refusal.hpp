// How a constructor refuses a bad argument.
#pragma once

#include <stdexcept>
#include <string>

namespace zkrecipes::test {

/// The message of the std::invalid_argument that `make` throws; empty if it throws none.
template <class Make>
std::string refusal(Make make) {
  try {
    make();
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return {};
}

}  // namespace zkrecipes::test
