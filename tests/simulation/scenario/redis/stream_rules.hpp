// The rules for the entries of streams: what becomes of each, in which order, and how often; and what is told when the
// broker has lost some.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

#include "model/redis/redis_store.hpp"
#include "redis/stream_position.hpp"
#include "run/stage.hpp"
#include "scenario/term_rules.hpp"

namespace zkrecipes::simulation {

// The rules for what producers put, whatever the broker.

/// A message is put by one call of one object. The objects have numbers, and number their messages.
struct put_mark {
  std::uint64_t origin = 0;
  std::uint64_t number = 0;

  std::string text() const { return std::to_string(origin) + '.' + std::to_string(number); }
  static put_mark of(const std::string& text);
  friend auto operator<=>(const put_mark&, const put_mark&) = default;
};

/// Messages are put once, in the order of the calls of an object, and as the caller was told. An object that goes on
/// behind a loss of what it was told to be put tells of it first.
class put_rules {
 public:
  explicit put_rules(stage& in) : in_(in) {}

  /// Stands for clients that are no producers.
  static constexpr std::uint64_t bare = 0;

  /// A new object.
  std::uint64_t begin() { return ++origins_; }
  /// The next message of a client that is no producer.
  put_mark next_bare() { return {bare, ++made_by_bare_}; }
  /// The broker has it, in this place.
  void arrived(const std::string& place, const std::string& text);
  /// The broker has it no more, and it does not count any more.
  void lost(const std::string& place, const std::string& text);
  /// The same, by the hand of somebody: the broker still knows that it was put, so that no producer can find out.
  void removed(const std::string& place, const std::string& text);
  /// The log has told that a producer's messages were lost, or its caller was.
  void told() { untold_.clear(); }
  void acknowledged(const std::string& text);
  /// The caller was told that it was not put.
  void refused(const std::string& text);

 private:
  stage& in_;
  std::uint64_t origins_ = 0;
  std::uint64_t made_by_bare_ = 0;
  std::map<std::string, std::set<put_mark>> there_;  // by place
  std::set<put_mark> ever_;
  std::set<put_mark> refused_;
  std::set<put_mark> acknowledged_;
  std::set<std::uint64_t> untold_;  // objects
};

/// Each group consumes each stream: feed s * groups + g is that of group g in stream s. The effect of an entry is that
/// the store of its feed says "<epoch> <id> <data>".
class stream_rules final : public redis_watcher {
 public:
  stream_rules(stage& in, const redis_options& broker, std::vector<std::string> groups,
               const queue_consumer_options& consuming, const std::deque<term_rules>& terms);

  static constexpr const char* root = "/redis";

  int feeds() const { return static_cast<int>(broker_.shards * groups_.size()); }
  std::uint32_t shard_of(int feed) const { return static_cast<std::uint32_t>(feed) / group_count(); }
  const std::string& group_of(int feed) const { return groups_[static_cast<std::uint32_t>(feed) % group_count()]; }
  std::string stream_of(int feed) const { return broker_.stream + ':' + std::to_string(shard_of(feed)); }
  std::string position_of(int feed) const;
  static std::string results_of(int feed) { return "/result-" + std::to_string(feed); }

  put_rules& puts() noexcept { return puts_; }
  void committed(const entry& what);
  void begun(int feed, const term& present, const message& item);
  /// The log of a session has told that this stream has lost entries.
  void told(const std::string& stream);
  /// Whether that can be true.
  bool was_lost(const std::string& stream) const { return lossy_.contains(stream); }
  bool was_anything_lost() const { return !lossy_.empty(); }

  std::uint64_t settled() const noexcept { return settled_; }
  /// An entry that is not; empty: all are.
  std::string unsettled() const;

 private:
  struct record {
    std::string data{};
    std::string key{};
    std::uint64_t born = 0;
    bool is_lost = false;
    bool is_told = false;                 // that it is lost
    std::map<int, std::int64_t> begun{};  // the last term in which each feed has begun it
    std::set<int> settled{};              // by these feeds
    std::set<int> excused{};              // these were told that entries were lost, and may have passed over it
    std::set<int> returned{};             // these had settled it when it was lost, and came back
    std::set<int> sought{};               // these had settled it, and an operator has moved them back in front of it
  };
  using records = std::map<detail::stream_id, record>;
  /// What a commit says of the entries of a feed: its effect, or empty for a letter.
  using results = std::map<detail::stream_id, std::string>;
  struct feed_state {
    std::optional<detail::stream_position> position{};
    detail::stream_id beyond{};             // the last entry that was settled and is lost
    std::optional<std::uint64_t> untold{};  // entries of later birth came behind a loss that nobody has told
  };

  void added(const std::string& stream, const detail::stream_id& id, const redis_fields& fields) override;
  void trimmed(const std::string& stream, const std::vector<detail::stream_id>& ids) override;
  void deleted(const std::string& stream) override;
  void went_back(const redis_data& to) override;

  std::uint32_t group_count() const { return static_cast<std::uint32_t>(groups_.size()); }
  int feed_of(std::uint32_t shard, std::size_t group) const {
    return static_cast<int>(shard * group_count() + static_cast<std::uint32_t>(group));
  }
  std::vector<int> feeds_of(const std::string& stream) const;
  void record_result(const change& what, std::map<int, results>& into) const;
  void record_open(int feed, record& which, bool is_sought, const std::string& text) const;
  void move(int feed, const std::string& text, const results& done);
  void check_passed(int feed, const detail::stream_id& id, const record& which) const;
  void check_result(int feed, const detail::stream_id& id, const record& which, const std::string& effect);
  void check_order(int feed, const detail::stream_id& id, const record& which) const;

  stage& in_;
  const redis_options& broker_;
  std::vector<std::string> groups_;
  const queue_consumer_options& consuming_;
  const std::deque<term_rules>& terms_;
  put_rules puts_;
  std::map<std::string, records> records_;  // by stream
  std::vector<feed_state> states_;
  std::set<std::string> lossy_;  // streams that have lost entries
  std::uint64_t births_ = 0;
  std::uint64_t settled_ = 0;
};

}  // namespace zkrecipes::simulation
