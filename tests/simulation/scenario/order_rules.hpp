// The rules for the planner of a shard group, and for what it orders.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "run/stage.hpp"
#include "shards/group_layout.hpp"

namespace zkrecipes::simulation {

// The nodes of the scenario "shards".

inline constexpr std::uint32_t shard_count = 8;

inline const detail::group_layout& group_paths() {
  static const detail::group_layout where{"/g"};
  return where;
}

/// The node that the owner of a shard writes to.
inline std::string effects_path(std::uint32_t shard) { return "/effects-" + detail::shard_name(shard); }

/// By shard.
template <class Value>
using of_shards = std::array<Value, shard_count>;

/// The committed state of a shard group, but for the records of its shards.
class group_state {
 public:
  struct member {
    std::int64_t session = 0;
    std::int64_t number = 0;                      ///< In the order of joining.
    std::optional<detail::member_record> record;  ///< Nothing: the data is not ours.
    std::optional<instant> gone;
    instant joined{0};
  };
  struct absence {
    detail::away_record note;
    instant since{0};
    bool is_changed = false;  ///< By an operator.
  };

  explicit group_state(stage& in) : in_(in) {}

  /// Whether the transaction gives the planner something new to plan for.
  bool committed(const entry& what);

  /// Also those that have gone.
  const std::map<std::string, member>& members() const noexcept { return members_; }
  bool is_there(const std::string& name) const;
  /// Why nothing is taken from others for it: it drains, an operator drains it, a later member has its id, or most of
  /// its shards fail.
  bool gives_all(const std::string& name) const;
  /// Whether it may be given nothing for a while, because it has come back again and again.
  bool is_returning(const std::string& name) const;
  bool has_returning() const;
  /// Whether a member with this id has joined since then.
  bool has_joined(const std::string& id, instant since) const;
  /// Whether a member with the same id has joined behind the one that wrote the note, and takes nothing. It can be
  /// there before the note is: a process that starts while the former one, with the same id, still leaves.
  bool has_idle_successor(const detail::away_record& note) const;
  /// Whether a member is there that shards can be given to.
  bool has_taker() const;
  /// By id.
  const std::map<std::string, absence>& away() const noexcept { return away_; }
  /// Since when each shard is in quarantine.
  const std::map<std::uint32_t, instant>& quarantines() const noexcept { return quarantines_; }
  const std::optional<instant>& frozen_since() const noexcept { return frozen_; }

  /// The owner to be of each shard, as the orders say; of two, the one with the newer orders. Empty: nobody.
  of_shards<std::string> assigned() const;
  /// Whether a shard stands in the orders of two members.
  bool has_doubles() const;
  /// Whether nobody is to be given more than now: each has its share, rounded down or up.
  bool is_balanced() const;

 private:
  bool record_member(const entry& what, const change& each);
  bool record_away(const entry& what, const change& each);
  bool record_wish(const change& each);
  bool is_leaving(const std::string& name) const;
  bool is_drained(const std::string& name) const;
  bool is_shunned(const std::string& name) const;
  bool heeds_drains() const;
  std::string member_of(const std::string& id) const;
  of_shards<std::string> pinned() const;
  bool are_shares_kept(const of_shards<std::string>& owners, const of_shards<std::string>& pins) const;

  stage& in_;
  std::map<std::string, member> members_;
  std::map<std::string, absence> away_;
  std::map<std::uint32_t, instant> quarantines_;
  std::optional<instant> frozen_;
  std::map<std::string, std::string> wishes_;  // of an operator: the data by the name of the note
  detail::operator_notes notes_;               // the same, understood
  std::int64_t joined_ = 0;
};

/// The name behind the parent's path; empty if the path is not that of a child.
std::string child_of(const std::string& parent, const std::string& path);

inline bool is_by_operator(const entry& what) { return what.type == entry::kind::request && what.session == 0; }

class order_rules {
 public:
  /// `most_moves`: how many shards may be on their way from one member to another.
  order_rules(stage& in, std::size_t most_moves) : in_(in), state_(in), most_moves_(most_moves) {}

  void committed(const entry& what);
  void received(const connection& from) { clients_[from.key.id] = from.client; }
  void watch_fired(const connection& to, const backend::watch_event& event);
  /// The record of a shard says that this member has begun its term.
  void begun(std::uint32_t shard, const std::string& member);

  /// Nobody: -1.
  int client_of(std::int64_t session) const;
  const group_state& state() const noexcept { return state_; }
  instant last_news() const noexcept { return last_news_; }

 private:
  void record_departures(const entry& what, const of_shards<std::string>& before);
  void record_planner(const entry& what);
  void check_writer(const entry& what);
  void check_change(std::uint32_t shard, const std::string& from, const std::string& to);
  void check_move(std::uint32_t shard, const std::string& from, const std::string& to);
  void check_given(std::uint32_t shard, const std::string& to, bool is_taken);
  bool restores(const entry& what) const;
  /// Whether an operator has written orders lately: the planner sorts them out.
  bool is_tampered() const { return tampered_ && !is_over(*tampered_); }
  std::map<std::string, detail::shard_orders> orders() const;
  bool is_over(instant since) const;

  stage& in_;
  group_state state_;
  std::size_t most_moves_;
  std::map<std::int64_t, int> clients_;  // by session
  std::int64_t planner_epoch_ = 0;
  int planner_ = -1;  // the client whose term as planner is the last
  bool has_planner_ = false;
  std::set<int> planners_;  // all clients that have been
  instant last_news_{0};
  bool was_balanced_ = false;
  of_shards<int> moves_{};  // since the last news
  struct move {
    std::string to;
    instant since;
  };
  std::map<std::uint32_t, move> way_;                    // shards on their way
  std::map<std::uint32_t, std::string> workers_;         // who has begun the last term of a shard
  std::map<std::string, detail::shard_orders> had_;      // by member, before the present transaction
  std::map<std::string, std::set<std::uint32_t>> kept_;  // shards that wait for those who have stopped, by id
  std::optional<instant> tampered_;                      // when an operator has written orders
};

}  // namespace zkrecipes::simulation
