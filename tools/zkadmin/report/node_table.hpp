// Nodes as text for people.
#pragma once

#include <string>

#include "report/node_report.hpp"

namespace zkadmin {

std::string listing_table(const node_listing& listing, listing_style style);

std::string stat_table(const node_view& node);

}  // namespace zkadmin
