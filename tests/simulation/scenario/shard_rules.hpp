// The rules for the records of shards, and for what their owners write.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <zkrecipes/consumer/shard_group.hpp>

#include "election/term_record.hpp"
#include "scenario/order_rules.hpp"

namespace zkrecipes::simulation {

class shard_rules {
 public:
  shard_rules(stage& in, order_rules& orders, const shard_group_options& options)
      : in_(in), orders_(orders), limit_(options.quarantine_after), calm_(options.calm) {}

  void committed(const entry& what);

  /// A career was told that its term begins.
  void inaugurated(int client, std::uint32_t shard, std::int64_t epoch, std::int64_t token);
  /// A career has thrown.
  void failed(std::uint32_t shard) {
    ++of(shard).endings;
    of(shard).has_failed = true;
  }
  /// A career kills its process, in the term with this token.
  void killed(int client, std::uint32_t shard, std::int64_t token);

  /// An operator has written into the record after the term with this token began, or has removed it. The leader of
  /// that term is not told before its next write, so it may believe beside a successor.
  bool is_void(std::uint32_t shard, std::int64_t token) const { return token < of(shard).edited; }
  /// How often beliefs have become void.
  std::uint64_t edits() const noexcept { return edits_; }
  bool was_edited(std::uint32_t shard) const { return of(shard).edited > 0; }
  /// The member that leads the present term; empty if that is finished.
  std::string owner(std::uint32_t shard) const;
  /// The member that led the term with this token; empty if it is not known.
  std::string owner_of(std::uint32_t shard, std::int64_t token) const;
  bool is_executing(std::uint32_t shard) const { return of(shard).phase == term_phase::executing; }
  bool can_be_read(std::uint32_t shard) const { return of(shard).is_good; }

 private:
  struct shard_state {
    bool is_good = true;  ///< It exists, and holds no foreign data.
    std::int64_t epoch = 0;
    term_phase phase = term_phase::none;
    bool finished = true;
    std::string leader;          ///< The seat.
    span deadline{0};            ///< For the hand-over of the present term.
    std::int64_t deaths = 0;     ///< As the record says.
    instant since{0};            ///< When the present term began.
    std::int64_t began = 0;      ///< The transaction that began the present term.
    std::int64_t edited = 0;     ///< The last transaction of an operator that touched it.
    std::int64_t removed = 0;    ///< The last one that removed it: its versions begin anew.
    std::int64_t endings = 0;    ///< Terms in a row that have ended badly, as far as we know.
    std::int64_t kills = 0;      ///< Processes killed in a row, at times that are far enough apart to be counted.
    instant killed{0};           ///< The last one that was counted.
    std::set<int> victims{};     ///< The clients that they were.
    bool has_executed = false;   ///< The present term has: else it may end by a hang, which counts, too.
    bool has_failed = false;     ///< A career has, and its term may not have told it yet.
    std::int64_t last_kept = 0;  ///< The epoch of the last effect.
    std::set<std::int64_t> tokens{};
    std::map<std::int64_t, std::string> owners{};  ///< By the token of the term.
  };

  shard_state& of(std::uint32_t shard) { return shards_[shard]; }
  const shard_state& of(std::uint32_t shard) const { return shards_[shard]; }
  void record_operator(std::uint32_t shard, const entry& what, const change& each);
  static void record_emptied(shard_state& record, const entry& what);
  void check_record(std::uint32_t shard, const entry& what, const std::string& data);
  void check_beginning(std::uint32_t shard, const entry& what, const detail::term_record& next, bool is_quarantine);
  static bool is_coincidence(const shard_state& present, const detail::term_record& written);
  void record_coincidence(shard_state& present, const entry& what, const detail::term_record& written);
  void check_deaths(std::uint32_t shard, const entry& what, const detail::term_record& next);
  void check_wait(const shard_state& before, const std::string& member, const std::string& text);
  void check_quarantine(std::uint32_t shard);
  void check_effect(std::uint32_t shard, const std::string& data);

  stage& in_;
  order_rules& orders_;
  std::int64_t limit_;  // of deaths
  span calm_;
  of_shards<shard_state> shards_{};
  std::uint64_t edits_ = 0;
};

}  // namespace zkrecipes::simulation
