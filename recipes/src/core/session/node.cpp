#include <zkrecipes/node.hpp>

namespace zkrecipes {

acl open_acl() { return {{perm_all, "world", "anyone"}}; }

acl creator_acl() { return {{perm_all, "auth", ""}}; }

}  // namespace zkrecipes
