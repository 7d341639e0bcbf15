// Scripts: operations to run on the simulated and on the real ensemble, and their written form.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/request.hpp"
#include "backend/world.hpp"

namespace zkrecipes::conformance {

// Where a script is played: the simulated ensemble or the real one.

class side {
 public:
  virtual ~side() = default;

  /// Number of the server that leads, from 0.
  virtual int leader() const = 0;
  /// Connects to the server with this number, from 0.
  virtual std::unique_ptr<backend::link> connect(int server, backend::link_options options,
                                                 backend::link_listener& listener) = 0;
  /// Ends a session as if it had timed out.
  virtual void expire(std::int64_t session) = 0;
  /// Runs this side until the condition holds. False if it does not hold in time: 60 virtual seconds on the simulated
  /// side, 20 s on the real one.
  virtual bool run_until(const std::function<bool()>& condition) = 0;
};

/// A new simulated ensemble of three servers with the given leader. The seed decides its delays.
std::unique_ptr<side> simulated(int leader, std::uint64_t seed);

/// The real ensemble, started by the first call. All plays share it.
side& real();

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

// The words of a script's written form.

inline constexpr std::array step_words{"connect", "resume", "forge", "drop", "close", "expire", "lapse", "settle"};
inline constexpr std::array request_words{
    "create", "remove",  "get",     "set",          "exists",      "children",       "sync",
    "multi",  "get_acl", "set_acl", "authenticate", "forget_data", "forget_children"};
inline constexpr std::array mode_words{"persistent", "ephemeral", "persistent_sequential", "ephemeral_sequential",
                                       "container"};
inline constexpr std::array operation_words{"create", "remove", "set", "check"};

/// The position of a word in its list. \throws std::invalid_argument
template <class Enum, std::size_t Count>
Enum find_word(const std::array<const char*, Count>& words, std::string_view word) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown word \"" + std::string(word) + "\"");
}

template <class Enum, std::size_t Count>
const char* word_of(const std::array<const char*, Count>& words, Enum which) {
  return words.at(static_cast<std::size_t>(which));
}

}  // namespace zkrecipes::conformance
