// The instances of a service as a view saw them, and the difference of two such snapshots.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/children_snapshot.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/service_instance.hpp>

namespace zkrecipes {

/// A node of the service that is not an instance, or must not be read.
struct broken_instance {
  std::string node;
  error_code error;  ///< `foreign_data` or `no_auth`.

  friend bool operator==(const broken_instance&, const broken_instance&) = default;
};

/// The instances of a service, as read at one moment.
struct service_snapshot {
  std::vector<service_instance> instances;  ///< In order of their nodes' names, disabled instances included.
  std::vector<broken_instance> broken;
  children_snapshot nodes;  ///< The nodes that this was read from.
};

/// How `now` differs from what was seen before. The lists may be empty if only `now.broken` is different.
struct service_change {
  service_snapshot now;
  std::vector<service_instance> added;
  std::vector<service_instance> changed;
  std::vector<service_instance> removed;  ///< As they were last seen.
};

}  // namespace zkrecipes
