#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "script.hpp"

namespace zkrecipes::conformance {

namespace {

// The digest ids of "alice:a" and of "bob:b".
constexpr auto alice_id = "alice:AIueg8ag5ALfqeEyKdLnva1Wvi0=";
constexpr auto bob_id = "bob:LcrmCNs/wfVD+i5a5yaz89GyjIM=";

const std::map<std::string, acl>& all_rights() {
  static const std::map<std::string, acl> all{
      {"open", open_acl()},
      {"creator", creator_acl()},
      {"nobody", {}},
      {"read", {{perm_read, "world", "anyone"}}},
      {"grow", {{perm_read | perm_create, "world", "anyone"}}},
      {"fixed", {{perm_all & ~perm_delete & ~perm_create, "world", "anyone"}}},
      {"secret", {{perm_all & ~perm_read, "world", "anyone"}}},
      {"alice", {{perm_all, "digest", alice_id}, {perm_read, "world", "anyone"}}},
      {"bob", {{perm_all & ~perm_admin, "digest", bob_id}}},
      {"both", {{perm_all, "auth", ""}, {perm_read, "auth", ""}, {perm_read, "world", "anyone"}}},
      {"twice", {{perm_all, "world", "anyone"}, {perm_all, "world", "anyone"}}},
      {"none", {{0, "world", "anyone"}}},
      {"stranger", {{perm_all, "nonsense", "anyone"}}},
      {"anyway", {{perm_all, "world", "somebody"}}},
      {"digestless", {{perm_all, "digest", "alice"}}},
      {"colons", {{perm_all, "digest", "alice:a:b"}}},
      {"blank", {{perm_all, "digest", "alice:"}}},
      {"blanks", {{perm_all, "digest", "alice:a:"}}},
  };
  return all;
}

}  // namespace

acl rights_named(const std::string& name) {
  auto found = all_rights().find(name);
  if (found == all_rights().end()) throw std::invalid_argument("unknown rights \"" + name + "\"");
  return found->second;
}

const std::vector<std::string>& rights_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& each : all_rights()) list.push_back(each.first);
    return list;
  }();
  return names;
}

std::vector<credentials> users_named(const std::string& names) {
  std::vector<credentials> users;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, '+');) {
    if (name != "alice" && name != "bob") throw std::invalid_argument("unknown user \"" + name + "\"");
    users.push_back({name, name.substr(0, 1)});
  }
  return users;
}

std::size_t requests_in(const script& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const step& each) { return each.type == step::kind::request; }));
}

}  // namespace zkrecipes::conformance
