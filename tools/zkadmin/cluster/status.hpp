// The state of a cluster at one moment, as zkadmin knows it: plain data, the same for every way to show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/session.hpp>

namespace zkadmin {

/// One term of an election, as its record tells.
struct term_status {
  using time_point = std::chrono::system_clock::time_point;

  std::int64_t epoch = 0;
  std::string leader;
  std::optional<time_point> began{};  ///< By the servers' clock; nothing: it is not known.
  std::optional<time_point> ended{};  ///< The same; nothing also while the term goes on.
  std::string outcome{};              ///< How it ended; empty while it goes on.
  friend bool operator==(const term_status&, const term_status&) = default;
};

enum class server_role { leader, follower, observer, standalone, not_serving };

/// As shown: "leader", ..., "not serving".
const char* to_string(server_role role) noexcept;

struct latency_ms {
  double min = 0;
  double avg = 0;
  double max = 0;
  friend bool operator==(const latency_ms&, const latency_ms&) = default;
};

/// One server. Values that it did not tell are missing.
struct server_status {
  std::string server;      ///< As configured, "host:port".
  bool reachable = false;  ///< It answered as a ZooKeeper server does.
  bool silent = false;  ///< No answer yet: the server may be down, paused or slow. Without an error: it was just asked.
  std::optional<server_role> role;
  std::optional<std::uint64_t> zxid;
  std::optional<std::int64_t> connections;
  std::optional<std::int64_t> outstanding;
  std::optional<std::int64_t> nodes;
  std::optional<latency_ms> latency;
  std::string version;
  std::string error;  ///< The problem with this server; empty if there is none.
  friend bool operator==(const server_status&, const server_status&) = default;
};

/// Whether the server takes part in the ensemble's work: it has a role in which it answers requests.
bool is_serving(const server_status& server) noexcept;

/// Whether the server may take part: it answered, and did not say that it is not serving. Not every server tells its
/// role.
bool may_serve(const server_status& server) noexcept;

/// The name of the server's role or, if the role is not known, its state: "asked", "silent", "down", "unknown".
const char* standing(const server_status& server) noexcept;

struct candidate_status {
  std::string id;
  int position = 0;             ///< Place in line: 0 for the leader, or for the first candidate while nobody leads.
  std::int64_t token = 0;       ///< `czxid` of its node.
  std::int64_t session_id = 0;  ///< Owner of its node.
  std::string node;             ///< Name of its node.
  friend bool operator==(const candidate_status&, const candidate_status&) = default;
};

struct hand_over_status {
  std::string from;
  std::string to;  ///< Empty while nobody waits.
  std::string state;
  std::chrono::milliseconds elapsed{0};
  std::chrono::milliseconds deadline{0};
  friend bool operator==(const hand_over_status&, const hand_over_status&) = default;
};

/// Shown in the place of a phase, if the election's node holds data that zkrecipes did not write, or if it may not be
/// read.
inline constexpr const char* foreign_phase = "foreign_data";
inline constexpr const char* refused_phase = "no_auth";

struct election_status {
  std::string path;
  std::int64_t epoch = 0;
  std::string phase;
  /// When the phase began or, while it executes, the term; the epoch of the clock if unknown.
  std::chrono::system_clock::time_point since;
  std::optional<candidate_status> leader;
  std::vector<candidate_status> waiters;  ///< In the order of the line; the first one is next.
  std::optional<hand_over_status> hand_over;
  std::string takeover;  ///< How the term began; empty if unknown.
  /// How long ago the leader was asked to give up; nothing if it was not.
  std::optional<std::chrono::milliseconds> resignation_asked;
  /// For how long nobody has led although the first waiter is in line: since the record was written or that waiter
  /// came, whichever is later. Nothing while somebody leads, or while a hand-over tells how long it takes.
  std::optional<std::chrono::milliseconds> leaderless_for{};
  /// For how long the last term has been over with nobody in line to follow. Nothing while it is not so.
  std::optional<std::chrono::milliseconds> empty_for{};
  /// The last terms by the record, the present one at the end; empty if there is no record of a term.
  std::vector<term_status> history{};
  /// Why the queue consumer that leads holds off; empty: it does not.
  std::string held_off{};
  bool is_still = false;        ///< A call of its `process` has run for long.
  std::string still_message{};  ///< The name of its message; empty: unknown, or there is no such call.
  friend bool operator==(const election_status&, const election_status&) = default;
};

/// The candidate's id or, for a foreign candidate without one, the name of its node.
const std::string& label(const candidate_status& who) noexcept;

/// False if the election's node could not be read or understood: only its path is known then.
bool is_known(const election_status& election) noexcept;

/// True if the record says that a term goes on, but no candidate is in line: the last leader is gone without having
/// confirmed the end of its term, and there is no successor.
bool is_abandoned(const election_status& election) noexcept;

/// True if the leader is known to be dead, and nobody is in line to follow it.
bool is_orphaned(const election_status& election) noexcept;

/// A remark about the search for elections at or below a path.
struct survey_note {
  std::string path;
  std::string text;
  bool is_refused = false;  ///< The node may not be read with these credentials.
  friend bool operator==(const survey_note&, const survey_note&) = default;
};

/// "/closed: may not be read".
std::string to_string(const survey_note& note);

// All recipes of one kind at and below a path.

template <class Status>
struct survey {
  std::vector<Status> found{};       ///< Sorted by path.
  std::vector<survey_note> notes{};  ///< Why the survey is not complete.
  bool complete = true;              ///< False: there may be more than these.
  bool refused = false;              ///< Something may not be read with these credentials.
};

/// What came of reading one of them. With an error there is no status.
template <class Status>
struct reading {
  zkrecipes::error_code error{};
  Status status{};
};

using election_survey = survey<election_status>;

struct cluster_status {
  std::vector<server_status> ensemble;
  std::optional<election_survey> survey;  ///< Nothing: the elections are not known.
};

// Reads an election, which takes a ZooKeeper session.

/// The present state of one election; nothing if its node is gone. Foreign data and refused access are shown as a
/// phase; other errors throw `failure`.
boost::asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session, std::string path);

/// What a view tells: all but `leaderless_for` and `empty_for`.
election_status status_of(const zkrecipes::election_view& view);

/// The present state of one election, of what the library has answered.
boost::asio::awaitable<std::optional<election_status>> status_of_look(zkrecipes::session session, std::string path,
                                                                      zkrecipes::error_code error,
                                                                      zkrecipes::election_view view);

/// Whether time alone changes it.
bool has_ages(const election_status& status) noexcept;

/// For how long it has been so, by this machine's clock against the server's; not below 0.
std::chrono::milliseconds age_since(std::chrono::system_clock::time_point since,
                                    std::chrono::system_clock::time_point now) noexcept;

/// As it is after this time, if nothing else has changed.
void grow_older(election_status& status, std::chrono::milliseconds by);

}  // namespace zkadmin
