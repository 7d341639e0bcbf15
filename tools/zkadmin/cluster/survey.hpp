// All recipes of one kind at and below a path.
#pragma once

#include <vector>

#include "cluster/status.hpp"

namespace zkadmin {

template <class Status>
struct survey {
  std::vector<Status> found{};       ///< Sorted by path.
  std::vector<survey_note> notes{};  ///< Why the survey is not complete.
  bool complete = true;              ///< False: there may be more than these.
  bool refused = false;              ///< Something may not be read with these credentials.
};

}  // namespace zkadmin
