// Ends the session of a process that is known to be dead, and writes into the records of its terms that their leader
// has died, so that no successor has to wait for a timeout.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/link.hpp"
#include "session/condition.hpp"

namespace zkrecipes::backend {
class tls_context;
}

namespace zkrecipes::detail {

/// A term that the dead process led. The paths are full ones, with the session's root.
struct held_term {
  std::string record_path;
  std::string leader_node;  ///< As the record names the leader.
  /// The node that entitles to the term, and has the leader's name: the candidate's, or the member's of a shard group.
  /// Only if it belongs to the session the record is written, and it is removed together with the last write. Several
  /// terms can name the same one. Empty: nothing is written.
  std::string seat_path{};
};

struct dead_session {
  backend::session_key key;
  std::vector<backend::endpoint> servers{};  ///< By name.
  std::vector<credentials> digest{};
  std::vector<held_term> terms{};
  std::shared_ptr<backend::tls_context> tls{};  ///< Null: plain text.
};

struct dead_session_result {
  /// Clear: the session is over, and everything that had to be written is there. `session_expired`: it was over before,
  /// so nothing was written. `no_auth`: it is over, and records that may not be read or written are as they were.
  /// `server_error`: it is over, and the servers were too busy, for some seconds, or too slow, for half of the time, to
  /// write all records. `connection_loss`: it is over, and each of several connections was lost before all records were
  /// written. A process that is not dead does that when it takes its session back.
  /// `timed_out`: the deadline passed first. `operation_aborted`: the caller was cancelled.
  error_code error;
  std::size_t died = 0;         ///< Records into which we have written `died`.
  std::size_t passed_over = 0;  ///< Records that name somebody else, are finished, or may not be written.
  bool is_closed = false;       ///< A server has said that the session is over.
};

/// Takes the session up at one server after the other, until a server says that the session is over. In between it
/// reads the records behind a catch-up, all in one round trip; writes `died`, twice each and by version, where the
/// record names the leader of the held term, whose node is the session's, and the term is not finished; removes the
/// seats in the same transaction, or the last one if there are several; and closes the session. It looks again at
/// records that it could not write because of another writer, a lost reply or a busy server. The close is sent once the
/// transactions are answered: a link gives up the answers to what was sent before its close, and a transaction that was
/// refused could not be repeated without the session.
///
/// It costs four round trips until the last record is written and the seats are gone, a fifth until the session is
/// closed, and another connection to be certain of that. On the strand of `on`, whose world it uses.
awaitable<dead_session_result> end_dead_session(scheduler_ptr on, dead_session what, lease_clock::time_point deadline);

}  // namespace zkrecipes::detail
