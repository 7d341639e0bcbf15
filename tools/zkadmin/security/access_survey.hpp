// The access rights at recipes, as they were read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>

#include "cluster/recognize.hpp"
#include "cluster/status.hpp"

namespace zkadmin {

struct node_access {
  std::string path;
  zkrecipes::acl rights;
};

struct recipe_rights {
  recipe which = recipe::none;  ///< None: a node that was asked for, and is no recipe.
  std::string path;
  std::optional<zkrecipes::acl> own{};  ///< Nothing: not known; a note says why.
  std::vector<node_access> nodes{};     ///< Those below it that were looked at.
};

/// Where a priority queue has what is no item. docs/formats.md.
inline std::string side_of_queue(const std::string& path) { return path == "/" ? "/-side" : path + "-side"; }

struct access_survey {
  std::vector<recipe_rights> recipes{};
  std::vector<node_access> parents{};  ///< Those of the recipes, and the roots that were searched.
  std::vector<survey_note> notes{};    ///< The gaps, and why.
};

}  // namespace zkadmin
