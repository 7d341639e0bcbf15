// Computes the limit of a balance that processes share, and writes it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/shared_pace.hpp"
#include "format/json_object.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

// The nodes of a balance that processes share: what they hold, making them, and reading the limit.

/// The data of the node `limit`.
struct limit_record {
  std::int64_t range = 0;
  std::int64_t limit = 0;
  json_object unknown_fields{};
};

/// The data of a member's node. Without a floor it has just joined, and holds the limit as it is.
struct pace_member_record {
  std::string id{};
  std::optional<std::int64_t> floor{};
};

std::string serialize(const limit_record& record);
std::optional<limit_record> parse_limit_record(const std::string& data);
std::string serialize(const pace_member_record& record);
std::optional<pace_member_record> parse_pace_member_record(const std::string& data);

/// Where a balance that processes share is stored, and by whom it is used.
class pace_place {
 public:
  pace_place(core_ptr over, std::string where, std::string who, std::int64_t steps)
      : session(std::move(over)), root(std::move(where)), id(std::move(who)), range(steps) {}

  static constexpr std::string_view member_prefix = "member-";
  static constexpr std::string_view aside_prefix = "aside-";

  std::string limit() const { return root + "/limit"; }
  std::string members() const { return root + "/members"; }
  std::string member(const std::string& name) const { return members() + '/' + name; }
  /// While this node stands the member is not the pacer.
  std::string aside(const std::string& name) const { return member(std::string(aside_prefix) + name); }

  const core_ptr session;
  const std::string root;
  const std::string id;
  const std::int64_t range;
};

using pace_place_ptr = std::shared_ptr<const pace_place>;

/// The limit as it was read.
struct limit_sight {
  error_code error{};  ///< That of the read, or `foreign_data` or `size_mismatch` by what is there.
  limit_record record{};
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
};

limit_sight read_limit(const pace_place& where, const backend::reply& node);

/// Reads the limit. If there is none, and no node of members either, both are made, with the limit `known` or the
/// range, whichever is higher. Error `no_node`: only the limit is missing.
awaitable<limit_sight> find_limit(pace_place_ptr where, std::int64_t known);

/// The member whose name is the first in the list is the pacer. A node that no session owns, or that holds something
/// else, or that we have no right to read, is passed over, or there would be no pacer while it stands: each member
/// reads the first node once, and the next ones if that is passed over, twice as many with each look.
///
/// A pacer that has no right to read the node of a live member can not raise the limit, so it steps aside: a node
/// beside its own tells the others, by the list of members, that it is not the pacer. The first of the others takes its
/// place; one that can read all nodes never steps aside. It takes the mark back when it can read all. While all are
/// aside the limit stays.
///
/// Two that take themselves for the pacer do no harm, because the write of a limit is a transaction. It requires the
/// version of the limit
/// that was read. And it requires the version of the parent of all members, as of the list from which the limit was
/// computed: each join changes it, so a limit that does not count a newcomer is refused. A departure does not, because
/// without the member the limit can only be higher. A floor that was read may be old: it is too low at worst. The
/// transaction also requires the pacer's own node, because the versions begin anew if the path was removed and made
/// again.
///
/// A member without a floor has joined at the limit as it is, which stays until the member tells its floor. So a
/// newcomer need not win a race against the writes of the limit.
///
/// On the strand.
class pacer {
 public:
  pacer(pace_place_ptr where, shared_pace_ptr pace, incarnation_ptr bound, std::string own_name);

  /// The members, and the version of their parent in the same answer.
  void on_list(const std::vector<std::string>& names, std::int32_t version);
  void on_limit(const limit_sight& seen);
  /// Ours is higher than before.
  void on_own_floor() { changed_.notify(); }
  bool is_first() const noexcept { return is_first_; }
  /// There may be a node that tells that we are aside, or a request that makes it.
  bool may_be_aside() const noexcept { return may_be_aside_; }
  const limit_sight& known() const noexcept { return known_; }
  /// Notified when there may be something to do.
  condition& changed() noexcept { return changed_; }

  /// The node of a member whose floor is not known, so that we can not raise the limit, while we are the pacer or
  /// aside.
  struct obstacle {
    error_code error{};  ///< `foreign_data`: it holds something else. `no_auth`: it can not be read.
    std::string path{};
  };
  obstacle find_obstacle() const;
  /// When a node that could not be read is to be read again. Nobody is told of a change of rights.
  lease_clock::time_point next_look() const;

  /// Reads floors that may have changed, or writes the limit if it can be raised. One that is not the pacer looks
  /// whether the one that seems to be can be.
  struct result {
    error_code error{};
    bool did_something = false;
    bool lost_race = false;  ///< The list or the limit is an old one: both have to be read again.
  };
  awaitable<result> work();

 private:
  struct member {
    bool may_be_pacer() const noexcept { return !is_aside && (!was_read || (is_member && !is_foreign && !is_hidden)); }
    bool is_in_the_way() const noexcept { return is_hidden && is_member; }
    /// What the node says, or why it can not be read.
    error_code accept(const backend::reply& node);

    std::optional<std::int64_t> floor{};
    bool was_read = false;
    bool is_member = true;          // a session owns the node
    bool is_foreign = false;        // it does, and the node holds something else
    bool is_hidden = false;         // the node can not be read
    bool is_identified = false;     // `is_member` is what a server has said
    bool is_aside = false;          // it tells that it is not the pacer
    std::unique_ptr<watch> hint{};  // if it is missing or has fired, the floor has to be read
  };

  using member_map = std::map<std::string, member>;
  member_map::const_iterator rival() const;
  void update_first();
  bool sees_all() const;
  bool is_to_stand_aside() const;
  awaitable<result> stand_aside(bool aside);
  std::vector<std::string> due_hidden() const;
  void time_next_look(const std::vector<std::string>& read);
  std::vector<std::string> next_unread() const;
  awaitable<result> examine(std::vector<std::string> names);
  awaitable<result> read(std::vector<std::string> names);
  awaitable<result> write(std::int64_t limit);
  std::vector<std::string> outdated() const;
  std::optional<std::int64_t> next_limit() const;
  awaitable<error_code> accept_all(std::vector<std::string> names, std::vector<backend::reply> nodes);
  awaitable<error_code> identify(std::vector<std::string> hidden);

  const pace_place_ptr where_;
  const shared_pace_ptr pace_;
  const incarnation_ptr bound_;
  const std::string own_name_;
  condition changed_;
  bool is_first_ = false;
  std::int32_t list_version_ = -1;
  member_map others_;
  std::size_t looks_ahead_ = 1;  // so many nodes are examined at once, next time
  bool is_aside_ = false;
  bool may_be_aside_ = false;
  std::size_t hidden_looks_ = 1;  // so many nodes that could not be read are read at once, next time
  std::chrono::seconds hidden_pause_{0};
  lease_clock::time_point next_look_{};
  limit_sight known_;
};

}  // namespace zkrecipes::detail
