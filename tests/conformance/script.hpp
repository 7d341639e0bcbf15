// Scripts: operations to run on the simulated and on the real ensemble, and their written form.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/request.hpp"

namespace zkrecipes::conformance {

/// One step of one link. Successive requests of the same link are sent at once, without waiting. Before any other step
/// all requests are answered, and every link has heard its events.
struct step {
  enum class kind {
    connect,  ///< A new session.
    resume,   ///< A new connection that takes up the session of the link `of`.
    forge,    ///< Like `resume`, with a wrong password.
    drop,     ///< The connection ends, the session does not.
    close,    ///< The client closes the session.
    expire,   ///< The ensemble ends the session.
    lapse,    ///< The connection ends; the session expires after its timeout.
    settle,   ///< Nothing is sent until everything is answered.
    request,
  };

  kind type = kind::request;
  int link = 0;
  int server = 0;
  int of = 0;
  std::chrono::milliseconds timeout{30'000};
  std::string users;                ///< Names of the users that authenticate, as in "alice+bob".
  std::vector<std::string> rights;  ///< Names of the ACLs: for a create or set_acl, or for each operation of a multi.
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

/// The number of steps that are requests.
std::size_t requests_in(const script& all);

}  // namespace zkrecipes::conformance
