// What cures a problem of access rights: a command for zkCli.sh, or words where no command does. Pure functions. No
// cure takes rights from an entry that is neither everybody's nor that of the session which sets the ACL.
#pragma once

#include <string>

#include "security/access_survey.hpp"

namespace zkadmin {

/// Closes a recipe and the nodes below it to everybody.
std::string cure_of_recipe(const recipe_rights& seen);

/// Closes one node, and leaves everybody READ if everybody has it.
std::string cure_of_node(const node_access& seen);

/// Gives the rights that a holder lacks, in the ACL of one node.
std::string cure_by_adding(const std::string& right, const std::string& holder);

/// Makes the nodes of a recipe have one ACL.
std::string cure_of_mixture(const recipe_rights& seen);

}  // namespace zkadmin
