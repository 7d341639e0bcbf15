// A counter, and a shared value.
#include <map>
#include <string>

#include <zkrecipes/counter.hpp>
#include <zkrecipes/shared_value.hpp>

#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// All clients add to one number. The sum must agree with the results that they got.

namespace {

constexpr const char* counter_path = "/sums/total";

class adder;

class counter_scenario final : public scenario_of<counter_scenario, adder> {
 public:
  explicit counter_scenario(stage& in) : scenario_of(in), in_(in) {}

  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path == counter_path) check(each.data);
    }
  }
  void check_quiet(const tree& nodes) override {
    const auto* there = nodes.find(counter_path);
    const std::int64_t value = there ? std::stoll(there->data) : 0;
    in_.require(added <= value, "nothing acknowledged is lost", describe(value));
    check(std::to_string(value));
  }

  std::int64_t added = 0;  ///< The sum of the acknowledged additions.
  std::int64_t maybe = 0;  ///< The sum of additions under way, of unknown outcome, and of killed processes.

 private:
  void check(const std::string& text) {
    const auto value = std::stoll(text);
    in_.require(value <= added + maybe, "nothing is added twice", describe(value));
  }
  std::string describe(std::int64_t value) const {
    return std::to_string(value) + ", acknowledged " + std::to_string(added) + ", unknown " + std::to_string(maybe);
  }

  stage& in_;
};

class adder final : public routine {
 public:
  adder(counter_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), sum_(with, counter_path) {}

 private:
  asio::awaitable<void> round() override {
    const auto delta = static_cast<std::int64_t>(1 + dice().below(9));
    of_.maybe += delta;
    auto adding = waits<std::int64_t>([&](auto token) { sum_.async_add(delta, std::move(token)); });
    auto [error, sum] = co_await std::move(adding);
    const bool unknown = error == errc::outcome_unknown || error == asio::error::operation_aborted;
    if (!unknown) of_.maybe -= delta;
    if (error) co_return;
    of_.added += delta;
    of_.done.note(client());
    in().require(sum >= delta, "a sum has its parts");
  }

  counter_scenario& of_;
  counter sum_;
};

}  // namespace

std::unique_ptr<scenario> make_counter_scenario(stage& in) { return std::make_unique<counter_scenario>(in); }

// All clients replace one value, with a condition or without, delete it now and then, and follow it. The value's
// history must agree with the results that they got.

namespace {

constexpr const char* value_path = "/values/one";

/// A write that a client wants. Its data is unique, so that the write is recognized when it is committed.
struct wish {
  node_stat seen;            ///< The value that the client saw before.
  bool conditional = true;   ///< Whether it may replace only `seen`.
  bool refused = false;      ///< Whether the client was told that it was refused.
  int times = 0;             ///< How often it was committed.
  std::int64_t mzxid = 0;    ///< The zxid of the last commit.
  std::int64_t follows = 0;  ///< The mzxid of the value that it replaced; 0: there was none.
};

class value_scenario final : public scenario {
 public:
  explicit value_scenario(stage& in) : replaced(in), in_(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override;
  void healed() override { is_healed = true, replaced.forget(); }
  bool recovered() override;
  void check_quiet(const tree& nodes) override;

  std::string begin(int client, const node_stat& seen, bool conditional);
  void ended(const std::string& data, const error_code& error, const node_stat& now);
  /// A client was told this value.
  void check_read(const node_data& what) const;

  progress replaced;
  bool is_healed = false;

 private:
  void on_written(const std::string& data, std::int64_t zxid);
  void check_done(const std::string& data, const wish& what, const node_stat& now) const;
  void check_refused(const std::string& data, const wish& what, const error_code& error) const;

  stage& in_;
  std::map<std::string, wish> wishes_;           // by their data
  std::map<std::int64_t, std::string> history_;  // by mzxid
  std::int64_t present_ = 0;                     // mzxid; 0: there is none
};

class writer final : public routine {
 public:
  writer(value_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), value_(with, value_path) {
    longest_rest = 2s;
    begin();
    follow();
  }

  void cancel(asio::cancellation_type type) override {
    routine::cancel(type);
    following_.emit(type);
  }
  void stop() override {
    routine::stop();
    following_.emit(asio::cancellation_type::total);
  }
  /// An operator deletes the value now and then.
  std::string own_node() const override { return value_path; }

  std::int64_t followed() const { return followed_.mzxid; }

 private:
  asio::awaitable<void> round() override {
    auto reading = waits<node_data>([&](auto token) { value_.async_get(std::move(token)); });
    auto [error, seen] = co_await std::move(reading);
    if (error && error != errc::no_node) co_return;
    if (!error) learn(read_, seen);
    if (dice().one_in(8) && !of_.is_healed) {
      auto removing = waits<>([&](auto token) { zk().async_remove(value_path, any_version, std::move(token)); });
      co_await std::move(removing);
      co_return;
    }
    if (dice().one_in(3)) co_await rest(0ms, 300ms);  // another client may write first
    auto writing = write(error ? node_stat() : seen.stat);
    co_await std::move(writing);
    // After all faults are over, each client stops after one successful write, so that there is a last value.
    while (of_.is_healed && is_done_ && !stopping()) co_await rest(500ms, 1s);
  }

  asio::awaitable<void> write(node_stat seen) {
    const bool conditional = !dice().one_in(4);
    const auto data = of_.begin(client(), seen, conditional);
    auto writing = waits<node_stat>([&](auto token) {
      if (conditional) {
        value_.async_compare_and_set(seen, data, std::move(token));
      } else {
        value_.async_set(data, std::move(token));
      }
    });
    auto [error, now] = co_await std::move(writing);
    of_.ended(data, error, now);
    if (error) co_return;
    is_done_ = of_.is_healed;
    of_.replaced.note(client());
  }

  /// Follows the value until the client is stopped; a cancelled wait is begun again.
  void follow() {
    auto begin = [&](auto token) { value_.async_change(followed_, std::move(token)); };
    all().start<node_data>(following_, begin, [this](error_code error, node_data now) {
      if (!error) learn(newest_, now);
      if (!error) followed_ = now.stat;
      if (error == errc::no_node) followed_ = node_stat();
      if (!stopping()) follow();
    });
    if (dice().one_in(12)) {
      in().later(client(), dice().between(0ms, 500ms), [this] { following_.emit(asio::cancellation_type::partial); });
    }
  }

  void learn(std::int64_t& newest, const node_data& now) {
    of_.check_read(now);
    in().require(now.stat.mzxid >= newest, "nobody sees the value go backward", now.data);
    newest = now.stat.mzxid;
  }

  value_scenario& of_;
  shared_value value_;
  asio::cancellation_signal following_;
  node_stat followed_;
  std::int64_t newest_ = 0;  // newest mzxid that following has reported
  std::int64_t read_ = 0;    // newest mzxid that reading has reported
  bool is_done_ = false;
};

std::unique_ptr<program> value_scenario::start(stage& in, int client, session with) {
  return std::make_unique<writer>(*this, in, client, std::move(with));
}

std::string value_scenario::begin(int client, const node_stat& seen, bool conditional) {
  auto data = std::to_string(client) + '-' + std::to_string(wishes_.size());
  wishes_[data] = {seen, conditional};
  return data;
}

void value_scenario::committed(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.path != value_path) continue;
    if (each.type == change::kind::remove) present_ = 0;
    if (each.type == change::kind::create || each.type == change::kind::set) on_written(each.data, what.zxid);
  }
}

/// A write that was given up, or whose process was killed, may still be committed; one that was reported as refused may
/// not.
void value_scenario::on_written(const std::string& data, std::int64_t zxid) {
  auto& which = wishes_.at(data);
  ++which.times;
  which.mzxid = zxid;
  which.follows = std::exchange(present_, zxid);
  history_[zxid] = data;
  in_.require(!which.refused, "what is refused is not written", data);
  in_.require(which.times == 1, which.conditional ? "a condition is met once" : "a value is written once", data);
}

void value_scenario::ended(const std::string& data, const error_code& error, const node_stat& now) {
  auto& which = wishes_.at(data);
  if (!error) return check_done(data, which, now);
  const bool over_another = error == errc::node_removed && which.conditional;
  if (over_another) {
    return in_.require(which.times == 1 && which.follows != which.seen.mzxid, "over what was made again", data);
  }
  const bool not_sent = error == errc::connection_loss;  // not sent in all the time in which it may be retried
  which.refused = which.conditional &&
                  (not_sent || error == errc::bad_version || error == errc::node_exists || error == errc::no_node);
  if (which.refused) return check_refused(data, which, error);
  const bool is_open = not_sent || error == errc::outcome_unknown || error == asio::error::operation_aborted;
  in_.require(is_open, "an operation ends for a reason", error.message());
}

void value_scenario::check_done(const std::string& data, const wish& what, const node_stat& now) const {
  in_.require(what.times > 0, "what is told as done is written", data);
  if (!what.conditional) return;
  in_.require(what.mzxid == now.mzxid, "a write is told as it is", data);
  in_.require(what.follows == what.seen.mzxid, "a condition is met by what was seen", data);
}

void value_scenario::check_refused(const std::string& data, const wish& what, const error_code& error) const {
  in_.require(what.times == 0, "what is refused is not written", data + ": " + error.message());
  // If the value is no longer `seen`, it never is again. A value that was missing may be missing again: that is not
  // checked.
  const bool was_tried = error != errc::connection_loss;
  const bool for_nothing = was_tried && what.seen.mzxid && present_ == what.seen.mzxid;
  in_.require(!for_nothing, "refused for a reason", data);
}

void value_scenario::check_read(const node_data& what) const {
  auto found = history_.find(what.stat.mzxid);
  in_.require(found != history_.end() && found->second == what.data, "what is read was written", what.data);
}

bool value_scenario::recovered() {
  if (!replaced.everybody()) return false;
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto* each = static_cast<writer*>(in_.running(i));
    if (!each || each->followed() != present_) return false;
  }
  return true;
}

void value_scenario::check_quiet(const tree& nodes) {
  const auto* there = nodes.find(value_path);
  in_.require(there && there->stat.mzxid == present_, "the last value stays");
}

}  // namespace

std::unique_ptr<scenario> make_value_scenario(stage& in) { return std::make_unique<value_scenario>(in); }

}  // namespace zkrecipes::simulation
