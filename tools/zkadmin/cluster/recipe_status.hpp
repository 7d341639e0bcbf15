// The state of any recipe at one moment, in a form that is the same for all kinds: plain data. One table, one JSON, one
// page of details serve all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/commit.hpp"
#include "cluster/group.hpp"
#include "cluster/queue.hpp"
#include "cluster/recognize.hpp"
#include "cluster/status.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {

/// One node of a recipe: somebody who takes part in it, or something that stands in it.
struct participant_status {
  std::string
      role;        ///< "holder", "waiter", "leader", "member", "instance", "claim", "taker", "letter", "transaction"...
  std::string id;  ///< As its data names it; empty if that names nobody, or if the node was not read.
  std::string node;                                ///< Name of its node.
  std::optional<std::int64_t> position{};          ///< Place in line, from 0; nothing if there is no line.
  std::optional<std::int64_t> session{};           ///< Owner of its node, 0: no session. Nothing: it was not read.
  std::optional<std::int64_t> token{};             ///< `czxid` of its node. Nothing: it was not read.
  std::optional<std::chrono::milliseconds> age{};  ///< Since its `ctime`, by this machine's clock against the server's.
  std::string detail{};     ///< For people: "write", "3 permits", "asked to give up", "10.0.0.7:8080".
  bool is_orphan = false;   ///< It belongs to no session although its recipe makes it ephemeral: it does not end alone.
  bool is_readable = true;  ///< False: its data may not be read with these credentials.
  friend bool operator==(const participant_status&, const participant_status&) = default;
};

/// Nothing: it is not known.
using fact_value = std::variant<std::monostate, bool, std::int64_t, std::chrono::milliseconds, std::string>;

/// A value that only some kinds have. `name` is that in JSON: "dead_letters"; people see "dead letters".
struct recipe_fact {
  std::string name;
  fact_value value{};
  friend bool operator==(const recipe_fact&, const recipe_fact&) = default;
};

/// "17", "yes", "1m 30s"; "?" if it is not known.
std::string to_text(const fact_value& value);

/// How far it could be read.
enum class recipe_access {
  readable,
  foreign_data,  ///< Its node holds data that this zkadmin does not understand: nothing else is known.
  no_access,     ///< It may not be read with these credentials: nothing else is known.
  missing,       ///< It was declared, and there is no such node.
};

/// As shown: "readable", "foreign_data", "no_access", "missing".
const char* to_string(recipe_access access) noexcept;

/// The state of a kind that has a form and rules of its own.
using own_form = std::variant<std::monostate, election_status, group_status, topic_status, commit_status, queue_status,
                              stream_status>;

struct recipe_status {
  std::string path;
  std::vector<recipe> kinds;  ///< One: the kind. More: it is one of these, and nothing tells which.
  std::string client{};       ///< By the layout: "zkrecipes", "Curator", "kazoo", "zkrecipes or Curator"; may be empty.
  recipe_access access = recipe_access::readable;

  // The headline. What a kind does not have, or is not known, is missing.
  std::string state{};   ///< A word or two: "held", "free", "raised", "lifted", "executing", "full", ...
  std::string holder{};  ///< Its holder, leader or owner, as people call it: "worker-3", "3 holders". Empty: nobody.
  std::optional<std::int64_t> session{};           ///< That of the holder, if there is one.
  std::optional<std::uint64_t> waiting{};          ///< Waiters or, of a queue, items.
  std::optional<std::chrono::milliseconds> age{};  ///< Since when it is held or, of a queue, the oldest item.

  // For the rules.
  std::optional<std::int64_t> size{};   ///< Permits of a semaphore, members that a double barrier needs.
  std::optional<std::int64_t> taken{};  ///< Permits that are taken, members that are present.

  std::vector<recipe_fact> facts{};                ///< In the order in which they are to be shown.
  std::vector<participant_status> participants{};  ///< Holders first, then in the order of the line.
  std::uint64_t not_read = 0;            ///< So many more participants are there, and were not read: they are too many.
  std::vector<std::string> strangers{};  ///< Some of the children that do not belong to this recipe, by name.
  std::uint64_t stranger_count = 0;      ///< How many there are.
  bool is_declared = false;              ///< The settings say that it is to be there.
  own_form original{};                   ///< What it was made of, for the rules of its kind.
  friend bool operator==(const recipe_status&, const recipe_status&) = default;
};

/// "semaphore"; "lock or election" if nothing tells which.
std::string kind_text(const recipe_status& status);

/// The participant's id or, if it has none, the name of its node.
const std::string& label(const participant_status& who) noexcept;

using recipe_survey = survey<recipe_status>;

// The recipes with a form of their own, in the form that all recipes share. Pure functions.

/// `now`: this machine's clock.
recipe_status recipe_status_of(election_status election, std::chrono::system_clock::time_point now);
recipe_status recipe_status_of(group_status group);
recipe_status recipe_status_of(topic_status topic);
recipe_status recipe_status_of(commit_status commit);
recipe_status recipe_status_of(stream_status stream);
/// Without its claims and letters.
recipe_status recipe_status_of(queue_status queue);

// All that one look at a cluster has found.

/// The kinds of things to look at.
struct wanted_kinds {
  bool servers = true;
  bool elections = true;
  bool groups = true;
  bool topics = true;
  bool commits = true;
  bool queues = false;  ///< The queues that the setting `queues` declares.
  bool recipes = true;  ///< All others: locks, semaphores, barriers, queues, services, ...

  /// Whether any kind but the servers is among them.
  bool has_recipes() const noexcept { return elections || groups || topics || commits || queues || recipes; }
};

/// A survey that is missing: nothing is known of that kind, or it was not asked for.
struct findings {
  std::vector<server_status> servers{};
  std::optional<election_survey> elections{};
  std::optional<group_survey> groups{};
  std::optional<topic_survey> topics{};
  std::optional<commit_survey> commits{};
  std::optional<queue_survey> queues{};
  std::optional<recipe_survey> recipes{};
  std::string trouble{};  ///< Why a survey that was asked for is missing.
  /// For how long no server has given a session; nothing: there is one, none was asked for, or it is not known yet.
  std::optional<std::chrono::milliseconds> without_session{};
};

}  // namespace zkadmin
