// The problems of access rights. docs/zkadmin.md has a section for each name. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/recognize.hpp"
#include "problems/verdict.hpp"
#include "security/access_reader.hpp"

namespace zkadmin {

// What rights at a recipe are worth to somebody who should not have them. docs/security.md has the same, in full.

/// "stand in line and so block others, delete the nodes of holders", of those rights that change something; of READ
/// only if there is nothing else. `is_path`: at the path itself, else at nodes below it.
std::string meaning_of(recipe which, std::int32_t rights, bool is_path);

/// Whether the recipe is its node: rights at the parent create and delete it.
bool is_single_node(recipe which) noexcept;

/// Whether its members stand in line, and look at the node in front of them.
bool is_line(recipe which) noexcept;

/// The problems of one recipe and the nodes below it, each with its cure.
problem_list problems_of(const recipe_rights& seen);

/// Those of the parents of recipes, which are told once for all recipes there.
problem_list problems_of_parents(const access_survey& seen);

/// That of the connection by which all was read. `is_secure`: it speaks TLS.
problem_list problems_of_connection(const access_survey& seen, bool is_secure);

// What cures a problem of access rights: a command for zkCli.sh, or words where no command does. Pure functions. No
// cure takes rights from an entry that is neither everybody's nor that of the session which sets the ACL.

/// Closes a recipe and the nodes below it to everybody.
std::string cure_of_recipe(const recipe_rights& seen);

/// Closes one node, and leaves everybody READ if everybody has it.
std::string cure_of_node(const node_access& seen);

/// Gives the rights that a holder lacks, in the ACL of one node.
std::string cure_by_adding(const std::string& right, const std::string& holder);

/// Makes the nodes of a recipe have one ACL.
std::string cure_of_mixture(const recipe_rights& seen);

}  // namespace zkadmin
