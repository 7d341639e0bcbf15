// The line of a lock, a read-write lock, a semaphore or an election, as an operator changes it: who holds, who waits,
// and what makes it certain that somebody waits.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "change/intervention.hpp"
#include "cluster/recipe_survey.hpp"

namespace zkadmin {

enum class place_role {
  holder,  ///< Or the leader; or whoever is first in line.
  waiter,
  unknown,  ///< What would tell can not be read, or is about to change.
};

/// A member's place in line.
struct line_place {
  std::string node;  ///< Name of its node.
  std::string path;  ///< Path of its node.
  std::string id{};  ///< As its data names it; empty if that names nobody, or may not be read.
  std::string data{};
  zkrecipes::node_stat stat{};
  bool is_readable = true;
  place_role role = place_role::unknown;
};

/// The id of a member or, if it has none, the name of its node.
const std::string& label(const line_place& who) noexcept;

struct waiting_line {
  std::string path;
  std::vector<recipe> kinds;          ///< More than one: it is one of these, and nothing tells which.
  zkrecipes::node_data root{};        ///< The recipe's own node.
  std::vector<line_place> places{};   ///< In the order of the line.
  std::vector<std::string> others{};  ///< Names of the children that are no members.
};

/// "lock"; "lock or election" if nothing tells which.
std::string kind_text(const waiting_line& line);

/// Whether it is an election for certain.
bool is_election(const waiting_line& line) noexcept;

/// Conditions that hold for as long as this member waits: the nodes ahead of it that keep it waiting are there.
/// Nothing: there is no such condition, because the nodes may not be read or are too many.
std::optional<zkrecipes::transaction> conditions_of_waiting(const waiting_line& line, std::size_t which);

/// Reads the recipe at `path`, with all members. Throws `failure`, also if it is none of the four kinds, if it is not
/// of this library where the layout does not tell who holds, or if its data is foreign. Cost: that of
/// `survey_recipe_at`, and one read of each member.
boost::asio::awaitable<waiting_line> read_waiting_line(zkrecipes::session session, std::string path, recipe_query query,
                                                       deadline limit);

/// The member with this node's name or, if `node` is empty, with this id. Throws `failure`, also if more than one has
/// the id. `not_found`: no such node is in line.
std::size_t find_place(const waiting_line& line, const std::string& node, const std::string& id);

// Takes a member out of a line.

/// The member that is to go.
struct eviction_choice {
  std::string node{};  ///< Name of a node; empty: by its id.
  std::string id{};
  bool force = false;  ///< Also whoever holds, or may hold.
};

/// Prepares the removal of a waiter's node, on condition that it still waits; by force of any member's node, which the
/// user has to confirm. Throws `failure`.
boost::asio::awaitable<intervention> prepare_eviction(zkrecipes::session session, std::string path, recipe_query query,
                                                      eviction_choice choice, deadline limit);

/// The request to take this member of the line out of it. Throws `failure`. A pure function.
intervention eviction_of(const waiting_line& line, std::size_t which, bool force);

// Asks the holders of a lock, a read-write lock or a semaphore to give up.

/// The holders that are to be asked, and how.
struct revocation_choice {
  std::string of{};                                  ///< The id of a holder, or its node; empty: all holders.
  std::optional<std::chrono::milliseconds> grace{};  ///< How long a holder may take; nothing: as long as it likes.
  bool in_curators_form = false;                     ///< Curator's request in place of data that is not ours.
  bool force = false;                                ///< Those that can not be asked are not refused.
};

/// A holder that is to give up.
struct asked_holder {
  line_place place;
  bool was_asked = false;  ///< With this grace or a shorter one: nothing is to be written.
  std::string obstacle{};  ///< Why it can not be asked; empty: it can.
};

struct revocation {
  std::string path;
  recipe kind = recipe::none;
  std::vector<asked_holder> holders;
  intervention request{};  ///< Without requests if all of them have been asked already, or can not be.
};

/// Throws `failure`: if nobody holds it, if it is an election, or if one of the holders can not be asked.
boost::asio::awaitable<revocation> find_revocation(zkrecipes::session session, std::string path, recipe_query query,
                                                   revocation_choice choice, deadline limit);

/// The same, and throws `failure`, too, if all have been asked already.
boost::asio::awaitable<intervention> prepare_revocation(zkrecipes::session session, std::string path,
                                                        recipe_query query, revocation_choice choice, deadline limit);

/// A pure function: what `find_revocation` does once the line has been read.
revocation revocation_of(const waiting_line& line, const revocation_choice& choice);

// Holders that are to give up, and when the node of each has gone.

/// What has become of one of the holders.
struct holder_progress {
  std::string who;                                        ///< Its id or, if it has none, its node.
  std::string node;                                       ///< Name of its node.
  bool was_sent = false;                                  ///< A request was written for it by this command.
  std::optional<std::chrono::milliseconds> gone_after{};  ///< Since the request, by our clock. Nothing: it is there.
};

/// Plain data; changed by `record_gone` only.
struct revocation_progress {
  std::string path;
  std::vector<holder_progress> holders;
  std::vector<std::string> present{};  ///< Those that hold it after that; meaningful with `is_present_known`.
  bool is_present_known = false;

  bool is_done() const noexcept;
  void record_gone(std::size_t which, std::chrono::milliseconds after) { holders[which].gone_after = after; }
};

revocation_progress progress_of(const revocation& found);

}  // namespace zkadmin
