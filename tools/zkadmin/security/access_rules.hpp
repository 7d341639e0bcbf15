// The problems of access rights. docs/zkadmin.md has a section for each name. Pure functions.
#pragma once

#include "problems/problem.hpp"
#include "security/access_survey.hpp"

namespace zkadmin {

/// The problems of one recipe and the nodes below it, each with its cure.
problem_list problems_of(const recipe_rights& seen);

/// Those of the parents of recipes, which are told once for all recipes there.
problem_list problems_of_parents(const access_survey& seen);

/// That of the connection by which all was read. `is_secure`: it speaks TLS.
problem_list problems_of_connection(const access_survey& seen, bool is_secure);

}  // namespace zkadmin
