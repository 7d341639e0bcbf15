// The state of one `once_per` object.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/flow/once_per.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "format/json_object.hpp"
#include "format/shown_text.hpp"
#include "queue/queue_layout.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

/// The records of calls that are made once in a period: that of an intent, and that of the path.
struct once_record {
  std::string key;
  std::string id;
  std::string guid;
  std::string note{};
  bool is_withdrawn = false;  ///< Another intent may take its place.
  json_object unknown_fields{};
};

std::string serialize(const once_record& record);
/// Nothing if it is not the data of an intent.
std::optional<once_record> parse_once_record(const std::string& data);

/// The data of the path.
std::string serialize_period(std::chrono::milliseconds per);
/// Nothing if it is not such data.
std::optional<std::chrono::milliseconds> parse_period(const std::string& data);

/// What the clock of the leader shows: it stamps each write with its time, in milliseconds since 1970. From the last
/// stamp on our own steady clock goes on. This is a guess: another leader can have another clock. A decision made by it
/// has to be checked by the next stamp.
class leader_time {
 public:
  bool is_known() const noexcept { return stamp_.has_value(); }
  void observe(std::int64_t stamp, lease_clock::time_point answered) {
    stamp_ = begin_ = stamp;
    answered_ = answered;
  }
  /// The stamp of an earlier write: the clock shows this time or a later one.
  void observe_earlier(std::int64_t stamp, lease_clock::time_point now) {
    if (!is_known() || stamp > present(now)) return observe(stamp, now);
    stamp_ = std::max(*stamp_, stamp);
  }
  std::int64_t present(lease_clock::time_point now) const {
    return begin_ + std::chrono::duration_cast<std::chrono::milliseconds>(now - answered_).count();
  }
  /// The last one: a time that a leader's clock has shown.
  std::int64_t stamp() const { return stamp_.value_or(0); }
  void forget() noexcept { stamp_.reset(); }

 private:
  std::optional<std::int64_t> stamp_;
  std::int64_t begin_ = 0;  // the stamp from which our clock goes on
  lease_clock::time_point answered_{};
};

/// Where intents are kept: `<path>/<period>/<hash of the key>`.
struct once_place {
  std::string root;
  std::chrono::milliseconds per;

  std::string clock() const { return join(root, "_once_clock"); }
  std::string period(std::int64_t number) const { return join(root, std::to_string(number)); }
  std::string intent(std::int64_t number, std::string_view key) const { return join(period(number), mark_of(key)); }

  /// Times are milliseconds since 1970.
  std::int64_t period_at(std::int64_t time) const { return time / per.count(); }
  std::int64_t end_of(std::int64_t number) const { return (number + 1) * per.count(); }
  /// Nothing if the node is not a period of ours.
  static std::optional<std::int64_t> period_named(std::string_view name) {
    const auto number = parse_whole<std::int64_t>(name);
    return number && std::to_string(*number) == name ? number : std::nullopt;
  }
};

/// An intent belongs to the period in which the leader has stamped it. Our guess of the leader's time says in which
/// period it is written. If the stamp is of another one the intent does not count, for nobody, and the next try goes by
/// the stamp. So an intent that counts is in the period of its name, and there is one of each key.
///
/// Intents are removed with their period only. A single one is written over, by its version: a removal that is executed
/// late could hit the intent of somebody else.
class once_state : public std::enable_shared_from_this<once_state> {
 public:
  once_state(core_ptr session, std::string path, once_per_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return where_.root; }
  const once_per_options& options() const noexcept { return options_; }

  awaitable<outcome<once_intent>> claim(std::string key, std::string note);
  awaitable<outcome<>> withdraw(once_intent what);
  awaitable<outcome<std::size_t>> clean();

 private:
  /// What a node says to a claim.
  enum class finding {
    nothing,    ///< It is not there.
    ours,       ///< The claim has written it.
    others,     ///< Another claim came before.
    free,       ///< It does not count: the claim may write over it.
    elsewhere,  ///< The leader's clock shows another period than we thought.
    foreign,    ///< Something else has written it.
  };
  struct sight {
    error_code error{};
    finding what = finding::nothing;
    once_record record{};
    node_stat stat{};
  };

  awaitable<error_code> prepare();
  awaitable<error_code> learn_time();
  awaitable<error_code> make_root();
  awaitable<sight> try_in(std::int64_t period, once_record mine);
  awaitable<backend::reply> write_and_look(std::vector<backend::request> all);
  sight judge(const once_record& mine, std::int64_t period, const backend::reply& node);
  void clean_if_due();

  core_ptr session_;
  const once_per_options options_;
  const once_place where_;
  leader_time time_;
  turnstile learning_{1};
  lease_clock::time_point clean_at_{};
};

}  // namespace zkrecipes::detail
