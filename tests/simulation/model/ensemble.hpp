// An ensemble of servers. A leader decides the order of transactions, a majority agrees to it, and each server applies
// them in its own time. Reads and watches of a client are served by the server that it is connected to.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "model/tree.hpp"
#include "world/pipe.hpp"

namespace zkrecipes::simulation {

// A client's connection to one server: two pipes, and the requests that the server has not answered yet.

/// The client's end of a connection. Called when something arrives there.
class peer {
 public:
  virtual void granted(const backend::session_key& key) = 0;
  virtual void refused() = 0;                        ///< The server does not know the session (any more).
  virtual void answered(backend::reply answer) = 0;  ///< Answers the oldest unanswered request.
  virtual void ponged() = 0;
  virtual void fired(const backend::watch_event& event) = 0;
  virtual void broken() = 0;

 protected:
  ~peer() = default;
};

struct waiting_request {
  backend::request what;
  bool ping = false;
  bool forwarded = false;  ///< Sent on to the leader: later requests of the connection wait for its result.
  bool throttled = false;  ///< The server will answer with an error.
  identities who{};  ///< Those of the connection when the request arrived, because credentials can be added later.
};

struct connection {
  std::uint64_t number = 0;
  int client = 0;  ///< Number of the process.
  int server = 0;
  peer* end = nullptr;  ///< Null once the client has dropped it.
  pipe_ptr up;
  pipe_ptr down;
  backend::session_key key;
  identities who;
  bool closed = false;  ///< Closed by the server.
  instant heard{0};     ///< When the server last received something from the client.
  std::deque<waiting_request> waiting;

  // Faults that are still to happen.
  bool lose_next_request = false;  ///< The connection breaks before the next request arrives.
  bool lose_next_answer = false;   ///< The connection breaks before the answer to the next write is sent.
  bool may_not_hear = false;       ///< For now no watch event is for this connection to know: see `watch_table`.
};

using connection_ptr = std::shared_ptr<connection>;

/// One-time watches of one server.
class watch_table {
 public:
  using teller = std::function<void(const connection_ptr&, const backend::watch_event&)>;

  void watch_data(const std::string& path, const connection_ptr& who) { add(data_, path, who); }
  void watch_children(const std::string& path, const connection_ptr& who) { add(children_, path, who); }
  void forget_data(const std::string& path, const connection& who) { take(data_, path, who); }
  void forget_children(const std::string& path, const connection& who) { take(children_, path, who); }
  void forget(const connection& who);
  void clear() { data_.clear(), children_.clear(); }

  /// To be called before the change is applied to the nodes. A connection that may not read the node is not told, but
  /// its watch is removed as well.
  void happening(const change& what, const tree& nodes, const teller& tell);

  std::size_t size() const { return data_.size() + children_.size(); }
  std::string any() const { return !data_.empty() ? data_.begin()->first : children_.begin()->first; }

 private:
  using table = std::map<std::string, std::vector<connection_ptr>, std::less<>>;
  static void add(table& to, const std::string& path, const connection_ptr& who);
  static void take(table& from, const std::string& path, const connection& who);
  static std::vector<connection_ptr> fire(table& from, std::string_view path);

  table data_;
  table children_;
};

struct ensemble_settings {
  int servers = 3;
  span tick = std::chrono::milliseconds(500);
  int sync_limit = 10;                                ///< In ticks.
  span least_delay = std::chrono::microseconds(100);  ///< One way, on every link.
  span max_delay = std::chrono::milliseconds(3);
  span max_lag = std::chrono::milliseconds(5);     ///< How late a follower applies a commit, on top of the delay.
  span container_check = std::chrono::minutes(1);  ///< Time between two searches for abandoned containers.
  span election = std::chrono::milliseconds(300);  ///< Time without a leader; an election takes up to 300 ms more.
};

/// One transaction of the log.
struct entry {
  enum class kind { request, open_session, close_session };
  kind type = kind::request;
  std::int64_t zxid = 0;
  std::int64_t time_ms = 0;
  std::int64_t session = 0;
  std::vector<change> changes;
  backend::reply answer;
  bool moved = false;  ///< The session has moved to another server: the connection is closed without an answer.
  std::weak_ptr<connection> asked;
  backend::session_key key;  ///< The key of a session to open.
};

using entry_ptr = std::shared_ptr<const entry>;

/// Is told what happens in the ensemble, in order.
class ensemble_observer {
 public:
  virtual void committed(const entry& what) = 0;
  virtual void received(const connection& from, const backend::request& what) = 0;
  virtual void watch_fired(const connection& to, const backend::watch_event& event) = 0;

 protected:
  ~ensemble_observer() = default;
};

class ensemble {
 public:
  ensemble(clockwork& clock, ensemble_settings settings, std::uint64_t seed, ensemble_observer& observer);
  ensemble(const ensemble&) = delete;
  ~ensemble();  ///< Messages that are still on their way are lost.

  // The clients' side.
  connection_ptr connect(int client, int which, const backend::link_options& options, peer& end);
  void send(const connection_ptr& from, backend::request what);
  void send_ping(const connection_ptr& from);
  void send_close(const connection_ptr& from);
  void drop(const connection_ptr& from);  ///< The client has closed its end.

  // Faults.
  void break_connection(const connection_ptr& which);
  void crash(int which);
  void restart(int which);
  void cut_off(int which);  ///< Cuts a follower off from the leader; clients still reach it.
  void rejoin(int which);   ///< Ends `cut_off`.
  /// Cuts the leader off from the other servers, which elect another one. The old leader notices only after `unaware`.
  /// Until then it takes its clients' sessions up again and answers their reads, pings and syncs (a sync only if no
  /// proposal waits to be committed), but it can commit nothing. A client `cut_off_with_it` reaches no other server
  /// until `rejoin_deposed`, and the other clients do not reach the old leader.
  void depose(span unaware, std::optional<int> cut_off_with_it = {});
  void rejoin_deposed();  ///< Ends `depose`.
  void undeceive();       ///< The deposed leader notices now.
  /// While on, the server answers signs of life with an error and does not execute them. Other requests are not
  /// throttled, because a session handles a refusal in the same way for all requests, and how a recipe handles one does
  /// not depend on the schedule.
  void throttle(int which, bool on) { servers_[index(which)].throttling = on; }
  void slow_down(int which, span extra_lag);
  void refuse(int which, bool on) { servers_[index(which)].refusing = on; }
  void keep_silent(int which, bool on) { servers_[index(which)].silent = on; }
  /// Stops the server's process: it reads nothing until `wake`, and then everything. False, and without effect, if it
  /// is the leader, or if any server does not answer or is cut off.
  bool stop(int which);
  void wake(int which);
  /// Operators copy the data of the servers, while they run, and later stop all servers and put the copy back. Sessions
  /// that the copy has live again. False, and without effect: there is no leader now, or a deposed one.
  bool back_up();
  bool restore();
  void expire(std::int64_t session);
  void create(const std::string& path, const std::string& data);  ///< By an operator.
  void remove(const std::string& path);                           ///< By an operator.
  void write(const std::string& path, const std::string& data);   ///< By an operator.
  /// An operator replaces the node at `path` by a persistent one of another owner. It is written to so often that it
  /// has no version which a client expects of its own node.
  void replace(const std::string& path);

  // For tests to look at.
  int leader() const noexcept { return leader_; }
  const tree& committed_state() const { return servers_[index(best())].data; }
  std::size_t sessions() const noexcept { return durable_.size(); }
  std::size_t watches() const;
  std::string any_watch() const;  ///< The path of some watch; empty if there is none.
  const ensemble_settings& settings() const noexcept { return settings_; }
  std::int64_t ephemeral_owner_alive(std::int64_t session) const { return durable_.count(session) ? session : 0; }
  /// Whether the leader already refuses the session as expired, although its nodes are not removed yet.
  bool is_ending(std::int64_t session) const {
    const auto found = sessions_.find(session);
    return found != sessions_.end() && found->second.closing;
  }

 private:
  struct server {
    bool up = true;
    bool serving = true;
    bool is_cut = false;
    bool deposed = false;  ///< It was deposed and still believes to lead.
    bool throttling = false;
    bool refusing = false;
    bool silent = false;
    bool stopped = false;
    span clock_ahead{0};  ///< Offset of its wall clock: a change of leader makes time stamps jump, also backwards.
    tree data;
    std::size_t applied = 0;
    std::size_t logged = 0;
    pipe_ptr to_leader;
    pipe_ptr orders;   ///< From the leader: proposals, pings, validations of sessions.
    pipe_ptr commits;  ///< From the leader: commits, applied in order and with lag, and answers to syncs.
    std::set<std::int64_t> touched;
    instant heard{0};  ///< When it last heard from the leader.
    instant heard_by_leader{0};
    span extra_lag{0};
    std::map<std::uint64_t, connection_ptr> connections;
    watch_table watches;
  };
  struct session_state {
    std::string password;
    std::chrono::milliseconds timeout{0};
    instant expires{0};
    int owner = -1;
    bool closing = false;
  };

  /// The state of a deposed leader that has not noticed.
  struct deposed_leader {
    int which = -1;
    std::uint64_t times = 0;
    bool stuck = false;  ///< A proposal can not be committed: syncs wait for it, without end.
    std::map<std::int64_t, session_state> sessions;
    std::optional<int> company;  ///< The client that is cut off together with it from the other servers.
  };

  struct data_copy {
    tree data;
    std::size_t committed = 0;
    std::int64_t zxid = 0;
    std::map<std::int64_t, session_state> sessions;
  };

  /// The time that a request needs inside the server: from the socket to the link to the leader, or, at the leader, to
  /// the proposal. A request to take a session up again does not wait that long, so it can overtake others.
  static constexpr span pipeline = std::chrono::microseconds(50);

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  server& at(int i) { return servers_[index(i)]; }
  int best() const;
  void operate(const backend::request& what);
  bool leads(int i) const { return i == leader_; }
  bool reaches(int client, int which) const {
    return !deposed_.company || (client == deposed_.company) == (which == deposed_.which);
  }
  bool believes_to_lead(int i) const { return leads(i) || servers_[index(i)].deposed; }
  std::map<std::int64_t, session_state>& sessions_at(int i) { return at(i).deposed ? deposed_.sessions : sessions_; }

  // At the server that a client is connected to.
  void greet(const connection_ptr& who, backend::session_key asked);
  void validate(int which, const connection_ptr& who, const backend::session_key& asked);
  void receive(const connection_ptr& from, waiting_request what);
  void forward(const connection_ptr& from, const waiting_request& asked);
  void forward_close(const connection_ptr& from);
  void keep_waiting(const connection_ptr& from, const backend::request& what);
  void work_off(const connection_ptr& from);
  void execute(const connection_ptr& from, const waiting_request& what);
  static backend::reply refusal(const backend::request& what);
  void answer(const connection_ptr& to, backend::reply with);
  std::int64_t last_zxid(int which) const;
  void answer_forwarded(const connection_ptr& to, const entry& what);
  void close(const connection_ptr& which);
  void close_silent();
  void close_unreachable();
  void close_all(int which);
  void touch(int which, std::int64_t session);

  // At the leader.
  void lead(int from, const connection_ptr& by, const waiting_request& asked);
  void lead_sync(int from, const connection_ptr& asked);
  void answer_sync(int from, const connection_ptr& asked);
  void open_session(const connection_ptr& asked, backend::session_key key);
  void close_session(std::int64_t session, std::weak_ptr<connection> asked);
  error_code check_session(std::int64_t session, int from, bool& moved);
  void propose(entry what);
  void advance();
  void commit_next();
  void apply(int which, std::size_t upto);
  void half_tick();
  void ping(int follower);
  void expire_sessions();
  void remove_containers();
  void prolong(session_state& session) const;
  instant expiry(span timeout) const;

  // Membership.
  void link(int follower);
  void unlink(int follower);
  void leave(int which);
  void join(int which);
  void lose_leader();
  std::vector<int> voters() const;
  void elect();

  clockwork& clock_;
  ensemble_settings settings_;
  chance chance_;
  std::uint64_t seed_;
  std::uint64_t pipes_ = 0;
  ensemble_observer& observer_;
  std::vector<server> servers_;
  std::map<std::uint64_t, std::weak_ptr<connection>> alive_;
  std::vector<entry_ptr> log_;
  std::size_t committed_ = 0;
  struct waiting_sync {
    std::size_t upto;
    int from;
    std::weak_ptr<connection> asked;
  };
  std::deque<waiting_sync> syncs_;  // each waits until `upto` entries are committed
  int leader_ = 0;
  deposed_leader deposed_;
  data_copy backup_;
  std::uint64_t epoch_ = 1;  // counts the leaders: messages to an earlier one are ignored
  std::int64_t zxid_ = 0;
  std::uint64_t half_ticks_ = 0;
  instant containers_due_{0};
  bool electing_ = false;
  tree latest_;                                     // the leader's view, with all proposals applied
  std::map<std::int64_t, session_state> sessions_;  // the sessions that the leader tracks
  std::map<std::int64_t, session_state> durable_;   // the committed sessions
  std::int64_t last_session_ = 0x1000;
  std::vector<std::weak_ptr<connection>> made_;
  std::uint64_t connections_ = 0;
};

}  // namespace zkrecipes::simulation
