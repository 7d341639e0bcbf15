#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace testcluster::command {

/// Accepts only these words; the error message lists them.
inline CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& given) -> std::string {
    if (std::find(words.begin(), words.end(), given) != words.end()) return {};
    std::string expected;
    for (std::size_t i = 0; i < words.size(); ++i)
      expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return "expected " + expected + ", found '" + given + "'";
  };
  return CLI::Validator(check, "", "word");
}

}  // namespace testcluster::command
