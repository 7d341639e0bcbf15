// Operations to run on the simulated and on the real ensemble, and their written form.
#pragma once

#include "backend/backend.hpp"

#include <string>
#include <vector>

namespace zkrecipes::conformance {

/// One step of one link. Requests of a link that follow each other are sent at once; before anything else everything
/// is answered, and every link has seen what happened.
struct step {
  enum class kind {
    connect,   ///< A new session.
    resume,    ///< The session of the link `of`, on a connection of its own.
    forge,     ///< The same with a wrong password.
    drop,      ///< The connection ends, the session does not.
    close,     ///< The session is closed.
    expire,    ///< The session is ended by the ensemble.
    lapse,     ///< The connection ends, and the session in its own time.
    settle,    ///< Nothing is sent until everything is answered.
    request,
  };

  kind type = kind::request;
  int link = 0;
  int server = 0;
  int of = 0;
  std::chrono::milliseconds timeout{30'000};
  std::string users;   ///< Names of who authenticates, as in "alice+bob".
  std::vector<std::string> rights;  ///< Names of the ACLs: of a create or set_acl, or of each operation of a multi.
  backend::request what;            ///< Paths are below the root of the run, unless they begin with '!'.
};

using script = std::vector<step>;

std::string to_text(const step& which);
std::string to_text(const script& all);

/// \throws std::invalid_argument naming the line.
script parse(const std::string& text);

/// The ACL with this name. \throws std::invalid_argument
acl rights_named(const std::string& name);
const std::vector<std::string>& rights_names();

/// \throws std::invalid_argument
std::vector<credentials> users_named(const std::string& names);

/// How many of the steps are requests.
std::size_t requests_in(const script& all);

}  // namespace zkrecipes::conformance
