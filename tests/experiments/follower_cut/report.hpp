// Reports: one row for all trials with the same setting.
#pragma once

#include <iosfwd>
#include <map>
#include <vector>

#include <boost/json.hpp>

#include "trial.hpp"

namespace follower_cut {

struct row {
  std::chrono::milliseconds tick{};
  int sync_limit = 0;
  setting how;
  std::vector<sighting> seen;
  std::map<std::string, int> no_overlap;  ///< Other trials, counted by the reason why no overlap was possible.
};

boost::json::array to_json(const std::vector<row>& rows);

/// A table in Markdown, in seconds, and the count of all trials.
void print(std::ostream& out, const std::vector<row>& rows);

}  // namespace follower_cut
