// The state of recipes of a kind, kept up to date by watches.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {

// The nodes on which the state of a recipe depends.

enum class watched_part { data, children };

/// A node that is missing is waited for, whatever the part.
struct watched_node {
  std::string path;
  watched_part part = watched_part::data;
  friend auto operator<=>(const watched_node&, const watched_node&) = default;
};

using watched_nodes = std::vector<watched_node>;

/// What to watch for the next state of something that was in this state. A topic with many shards or groups has too
/// many nodes to be watched: only its own data is among them, see `is_watched`.
watched_nodes nodes_of(const topic_status& topic);
watched_nodes nodes_of(const commit_status& commit);
watched_nodes nodes_of(const queue_status& queue);
watched_nodes nodes_of(const recipe_status& recipe);

/// Whether watches tell all changes of something in this state.
bool is_watched(const topic_status& topic) noexcept;
inline bool is_watched(const commit_status&) noexcept { return true; }
inline bool is_watched(const queue_status&) noexcept { return true; }
/// Not if it may not be read, because no watch tells that an access list has changed; nor if its kind has other nodes
/// than itself and its participants.
bool is_watched(const recipe_status& recipe) noexcept;

// Waits until something of a set of nodes may have changed.

/// Watches nodes. A list of many children is not watched, because each watch and each notification costs the whole
/// list: it is looked at again from time to time, so seldom that reading the list then costs at most 64 KiB a second.
/// Made by `make`. For one coroutine.
class node_watches : public std::enable_shared_from_this<node_watches> {
 public:
  static constexpr std::int32_t most_watched_children = 1'000;

  static std::shared_ptr<node_watches> make(zkrecipes::session session);

  /// Watches these, and no others. Two requests for each that was not watched before, one for each that has changed.
  /// Returns whether one has changed since the last `renew`, or may have: a reading in between may be out of date. That
  /// a node which was not watched has not changed is known if all that the last `renew` has seen is younger. Throws
  /// `failure`.
  boost::asio::awaitable<bool> renew(watched_nodes nodes);

  /// Completes when one of them may have changed, or at `limit`.
  boost::asio::awaitable<void> changed(std::chrono::steady_clock::time_point limit);

 private:
  using clock = std::chrono::steady_clock;
  struct watched {
    bool is_armed = false;
    std::optional<zkrecipes::node_stat> seen{};  ///< At the last look; nothing: it was missing, or not looked at.
    bool is_looked_at = false;
    std::optional<clock::time_point> look_due{};  ///< For a list that is not watched.
    background_task task{};
  };

  explicit node_watches(zkrecipes::session session);
  boost::asio::awaitable<void> arm(watched_node node, std::int64_t& newest);
  boost::asio::awaitable<void> await_change(watched_node node, std::optional<zkrecipes::node_stat> seen);
  boost::asio::awaitable<void> look_at_lists();
  bool has_fired() const;
  clock::time_point next_look() const;

  zkrecipes::session session_;
  boost::asio::steady_timer wake_;
  std::map<watched_node, watched> all_;
  std::int64_t newest_ = 0;  ///< The newest transaction that a look has told of.
};

// What time alone changes in a state that was read earlier.

/// As it is after this time, if nothing else has changed.
void grow_older(topic_status& topic, std::chrono::milliseconds by);
void grow_older(commit_status& commit, std::chrono::milliseconds by);
void grow_older(queue_status& queue, std::chrono::milliseconds by);
void grow_older(recipe_status& recipe, std::chrono::milliseconds by);

/// Lets a bounded number of coroutines through at a time.
/// For an executor of one thread. Held by `shared_ptr`, which each turn keeps.
class turns : public std::enable_shared_from_this<turns> {
 public:
  turns(const boost::asio::any_io_executor& executor, std::size_t width)
      : free_(width), wake_(executor, boost::asio::steady_timer::time_point::max()) {}

  /// Move-only. The destructor lets the next one through.
  class turn {
   public:
    explicit turn(std::shared_ptr<turns> of) : of_(std::move(of)) {}
    turn(turn&&) noexcept = default;
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (of_) of_->leave();
    }

   private:
    std::shared_ptr<turns> of_;
  };

  boost::asio::awaitable<turn> enter() {
    const auto self = shared_from_this();
    while (free_ == 0) co_await wake_.async_wait(as_result);
    --free_;
    co_return turn(self);
  }

 private:
  void leave() {
    ++free_;
    wake_.cancel_one();
  }

  std::size_t free_;
  boost::asio::steady_timer wake_;
};

/// When something is to be read again.
/// Reading takes at most a tenth of the time, unless one takes longer than three seconds: that is the time of an
/// outage. At most 20 nodes of one thing are read in a second. A thing that is not on the screen is read twice a minute
/// at most, because only its problems count.
class reading_pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit reading_pace(std::chrono::nanoseconds interval) : interval_(interval) {}

  bool is_due(clock::time_point now, bool is_shown) const noexcept { return now >= (is_shown ? due_if_shown_ : due_); }

  /// `nodes`: so many were read.
  void read(clock::time_point begin, clock::time_point end, std::size_t nodes) noexcept {
    const auto by_time = std::min<std::chrono::nanoseconds>((end - begin) * 10, longest_pause);
    const auto by_nodes = std::chrono::milliseconds(50) * static_cast<std::int64_t>(nodes);
    const auto pause = std::max<std::chrono::nanoseconds>({interval_, by_time, by_nodes});
    due_if_shown_ = end + pause;
    due_ = end + std::max<std::chrono::nanoseconds>(pause, longest_pause);
  }

 private:
  static constexpr auto longest_pause = std::chrono::seconds(30);

  std::chrono::nanoseconds interval_;
  clock::time_point due_if_shown_{};
  clock::time_point due_{};
};

/// Reads each once, then again when a watch has told a change, as often as `reading_pace` allows: one that does not
/// change costs no request. What watches do not tell is read again every minute, or as `node_watches` says.
///
/// Held by `shared_ptr`. For an executor of one thread.
template <class Status>
class live_readings : public std::enable_shared_from_this<live_readings<Status>> {
 public:
  using read_site = std::function<boost::asio::awaitable<reading<Status>>(zkrecipes::session, recipe_site)>;

  struct hooks {
    std::function<void()> on_change{};
    std::function<void(const recipe_site&)> is_gone{};  ///< One that was found is not there any more.
  };

  live_readings(zkrecipes::session session, read_site read, std::chrono::nanoseconds interval, hooks callbacks)
      : session_(std::move(session)),
        read_(std::move(read)),
        interval_(interval),
        callbacks_(std::move(callbacks)),
        turns_(std::make_shared<turns>(session_.get_executor(), readings_at_a_time)) {}

  /// Follows these, and no others.
  void follow(const std::vector<recipe_site>& sites) {
    const std::set<recipe_site> wanted(sites.begin(), sites.end());
    has_news_ |= std::erase_if(all_, [&wanted](const auto& each) { return !wanted.contains(each.first); }) > 0;
    for (const auto& each : sites)
      if (!all_.contains(each)) begin(each);
  }

  /// The connection is lost, and with it the watches: each is read again, a bounded number at a time.
  void forget_watches() {
    for (auto& [site, each] : all_) each.is_current = false;
    has_news_ = true;
    read_again();
  }

  /// Reads each again: the user has asked for it.
  void read_again() {
    for (auto& [site, each] : all_) begin(site);
  }

  /// Whether they are on the screen: if not, changes are read less often.
  void show(bool is_shown) noexcept { is_shown_ = is_shown; }

  /// Whether each has been read, or can not be.
  bool is_ready() const {
    return std::all_of(all_.begin(), all_.end(), [](const auto& each) { return each.second.is_current; });
  }
  /// Whether the last survey would be another one now, apart from ages.
  bool has_news() const noexcept { return has_news_; }
  bool is_empty() const noexcept { return all_.empty(); }

  /// Adds what is known of each: `add(all, site, reading)`. Asks no server.
  template <class Survey, class Add>
  void add_to_survey(Survey& all, Add add) {
    has_news_ = false;
    const auto now = clock::now();
    for (const auto& [site, each] : all_) {
      if (!each.trouble.empty() || !each.is_current) {
        all.complete = false;
        all.notes.push_back({site.path, note_on(each)});
      }
      if (!each.seen) continue;
      auto copy = *each.seen;
      grow_older(copy.status,
                 std::chrono::duration_cast<std::chrono::milliseconds>(each.outdated_at.value_or(now) - each.read_at));
      add(all, site, std::move(copy));
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t readings_at_a_time = 8;
  static constexpr auto unwatched_interval = std::chrono::minutes(1);
  static constexpr auto pause_after_a_failure = std::chrono::seconds(1);

  struct followed {
    bool is_current = false;  ///< It was read since the last connection, or could not be.
    std::optional<reading<Status>> seen{};
    std::string trouble{};  ///< Why the last reading has failed.
    clock::time_point read_at{};
    std::optional<clock::time_point> outdated_at{};  ///< It may have changed since: its ages grow no more.
    background_task task{};
  };

  static std::string note_on(const followed& one) {
    if (!one.trouble.empty()) return one.trouble;
    return one.seen ? "it has not been read since the connection was lost" : "it has not been read yet";
  }

  void begin(const recipe_site& site) { all_[site].task = background_task(session_.get_executor(), follow_one(site)); }

  /// Does not keep the others alive: their end cancels the task.
  boost::asio::awaitable<void> follow_one(recipe_site site) {
    const auto weak = this->weak_from_this();
    const auto gate = turns_;
    const auto watches = node_watches::make(session_);
    reading_pace pace(interval_);
    watched_nodes nodes{{site.path, watched_part::data}};
    for (;;) {
      clock::time_point begun;
      outcome last;
      {
        const auto turn = co_await gate->enter();
        begun = clock::now();
        last = co_await read_once(weak, site, watches, nodes);
      }
      if (last.is_over) co_return;
      pace.read(begun, clock::now(), nodes.size());
      if (!last.is_outdated) co_await watches->changed(last.next);
      if (const auto self = weak.lock()) self->outdate(site);
      co_await await_pace(weak, pace);
    }
  }

  /// Whether the reading has told what is there.
  static bool is_told(const zkrecipes::error_code& error) {
    using zkrecipes::errc;
    return !error || error == errc::no_node || error == errc::no_auth || error == errc::foreign_data;
  }

  struct outcome {
    bool is_over = false;
    bool is_outdated = false;  ///< It may have changed while it was read.
    clock::time_point next = clock::time_point::max();
  };

  static boost::asio::awaitable<outcome> read_once(std::weak_ptr<live_readings> all, recipe_site site,
                                                   std::shared_ptr<node_watches> watches, watched_nodes& nodes) {
    outcome result;
    auto self = all.lock();
    if (!self) co_return outcome{true};
    const auto session = self->session_;
    const auto read = self->read_;
    self.reset();
    reading<Status> seen;
    std::string trouble;
    try {
      co_await watches->renew(nodes);
      seen = co_await read(session, site);
      if (!is_told(seen.error)) check(seen.error, "looking at " + site.path);
      nodes = seen.error ? watched_nodes{{site.path, watched_part::data}} : nodes_of(seen.status);
      result.is_outdated = co_await watches->renew(nodes);
      if (seen.error || !is_watched(seen.status)) result.next = clock::now() + unwatched_interval;
    } catch (const failure& why) {
      trouble = why.what();
      result.next = clock::now() + pause_after_a_failure;
    }
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    self = all.lock();
    result.is_over = !self || state.cancelled() != boost::asio::cancellation_type::none;
    if (result.is_over) co_return result;
    trouble.empty() ? self->set(site, std::move(seen)) : self->fail(site, trouble);
    co_return result;
  }

  /// Until the next reading is due. Looks at the screen meanwhile: what comes on it is due earlier.
  static boost::asio::awaitable<void> await_pace(std::weak_ptr<live_readings> all, const reading_pace& pace) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    for (;;) {
      auto self = all.lock();
      if (!self || pace.is_due(clock::now(), self->is_shown_)) co_return;
      timer.expires_after(std::max<std::chrono::nanoseconds>(self->interval_, std::chrono::milliseconds(50)));
      self.reset();
      co_await timer.async_wait(as_result);
    }
  }

  void set(const recipe_site& site, reading<Status> seen) {
    const auto one = all_.find(site);
    if (one == all_.end()) return;
    const bool is_gone = seen.error == zkrecipes::errc::no_node && !site.is_declared;
    one->second.seen = std::move(seen);
    one->second.trouble.clear();
    on_reading(one->second);
    if (is_gone && callbacks_.is_gone) callbacks_.is_gone(site);
  }

  void fail(const recipe_site& site, const std::string& why) {
    const auto one = all_.find(site);
    // Without a connection the others are not told one by one.
    if (one == all_.end() || session_.status().state != zkrecipes::session_state::connected) return;
    one->second.trouble = why;
    on_reading(one->second);
  }

  /// Since the first time that this is said.
  void outdate(const recipe_site& site) {
    const auto one = all_.find(site);
    if (one != all_.end() && !one->second.outdated_at) one->second.outdated_at = clock::now();
  }

  void on_reading(followed& one) {
    one.is_current = true;
    if (one.trouble.empty()) {
      one.read_at = clock::now();
      one.outdated_at.reset();
    }
    has_news_ = true;
    if (callbacks_.on_change) callbacks_.on_change();
  }

  zkrecipes::session session_;
  const read_site read_;
  const std::chrono::nanoseconds interval_;
  hooks callbacks_;
  std::shared_ptr<turns> turns_;
  std::map<recipe_site, followed> all_;
  bool is_shown_ = true;
  bool has_news_ = true;
};

}  // namespace zkadmin
