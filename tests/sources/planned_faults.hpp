// What goes wrong in a source of one's own, as a case has planned it.
#pragma once

#include <deque>
#include <map>
#include <stdexcept>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::test {

/// By the name of the function.
struct planned_faults {
  std::map<std::string, std::deque<error_code>> errors{};
  std::map<std::string, std::string> exceptions{};

  /// The error that this call completes with.
  error_code take(const std::string& function) {
    const auto thrown = exceptions.find(function);
    if (thrown != exceptions.end()) throw std::runtime_error(thrown->second);
    auto& planned = errors[function];
    if (planned.empty()) return {};
    const auto first = planned.front();
    planned.pop_front();
    return first;
  }
};

}  // namespace zkrecipes::test
