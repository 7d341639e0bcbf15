#pragma once

#include <optional>
#include <string>

#include <testcluster/ensemble.hpp>

namespace testcluster::detail {

struct option_problem {
  std::string field;  ///< Name of a field of ensemble_options.
  std::string what;
};

/// The first field that can not be used, if there is one.
std::optional<option_problem> problem_in(const ensemble_options& options);

/// Throws std::invalid_argument naming the field that can not be used.
void validate(const ensemble_options& options);

}  // namespace testcluster::detail
