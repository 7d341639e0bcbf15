// What a server says about a node that it watches.
#pragma once

#include <string>

namespace zkrecipes::backend {

enum class change { created, deleted, data, children };

struct watch_event {
  change what;
  std::string path;
};

}  // namespace zkrecipes::backend
