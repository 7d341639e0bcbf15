#pragma once

#include <testcluster/ensemble.hpp>

namespace testcluster::detail {

/// Throws std::invalid_argument naming the field that can not be used.
void validate(const ensemble_options& options);

}  // namespace testcluster::detail
