// Locks: for readers and writers, several together, and one that is waited for, tried and asked back.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/multi_lock.hpp>
#include <zkrecipes/read_write_lock.hpp>

#include "line/line_spec.hpp"
#include "run/scenarios.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// Readers and writers of one lock, which also downgrade and upgrade.

namespace {

constexpr const char* read_write_path = "/guard";
constexpr std::string_view read_write_markers[] = {"__READ__", "__WRIT__"};

bool excludes(const shared_line::member& who) {
  if (who.name.find("__WRIT__") == std::string::npos) return false;
  return who.as->data.find("\"shared\":true") == std::string::npos;
}

/// A writer may hold if no member is ahead of it except a reader of its own session, which it upgrades. A reader (or a
/// downgraded writer) may hold if no writer is ahead of it.
bool may_hold(const std::vector<shared_line::member>& upto) {
  const auto& self = upto.back();
  return std::all_of(upto.begin(), upto.end() - 1, [&](const auto& other) {
    const bool own = other.as->stat.ephemeral_owner == self.as->stat.ephemeral_owner;
    return excludes(self) ? own && !excludes(other) : !excludes(other);
  });
}

class read_write_client;

class read_write_scenario final : public scenario_of<read_write_scenario, read_write_client> {
 public:
  explicit read_write_scenario(stage& in) : scenario_of(in), line(in, read_write_path, read_write_markers, &may_hold) {}

  void committed(const entry& what) override { line.committed(what); }
  void received(const connection& from, const backend::request& what) override { line.received(from, what); }
  void check_quiet(const tree& nodes) override { line.check_quiet(nodes); }

  shared_line line;
};

class read_write_client final : public routine {
 public:
  read_write_client(read_write_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), lock_(with, read_write_path, {.id = "client"}) {}

 private:
  asio::awaitable<void> round() override {
    const bool reads = dice().one_in(2);
    auto acquiring = waits<ownership>([&](auto token) {
      reads ? lock_.async_acquire_read(std::move(token)) : lock_.async_acquire_write(std::move(token));
    });
    auto [error, held] = co_await std::move(acquiring);
    if (error) co_return;
    of_.done.note(client());
    of_.line.granted(client(), held.path());
    co_await rest(0ms, 1s);
    if (dice().one_in(2)) co_await change(held, reads);
    if (dice().one_in(4)) co_return;  // the destructor releases it
    auto releasing = does<>([&won = held](auto token) { won.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  asio::awaitable<void> change(ownership& held, bool reads) {
    if (reads) {
      auto upgrading = waits<ownership>([&](auto token) { lock_.async_try_upgrade(held, std::move(token)); });
      auto [error, alone] = co_await std::move(upgrading);
      if (error) co_return;
      of_.line.granted(client(), alone.path());
      co_await rest(0ms, 500ms);
    } else {
      auto lowering = does<>([&](auto token) { lock_.async_downgrade(held, std::move(token)); });
      co_await std::move(lowering);
      co_await rest(0ms, 500ms);
    }
  }

  read_write_scenario& of_;
  read_write_lock lock_;
};

}  // namespace

std::unique_ptr<scenario> make_read_write_scenario(stage& in) { return std::make_unique<read_write_scenario>(in); }

// The clients acquire two or three of three locks together, named in any order.

namespace {

constexpr std::string_view multi_lock_markers[] = {"lock-"};
constexpr const char* paths[] = {"/red", "/green", "/blue"};

bool is_alone(const std::vector<shared_line::member>& upto) { return upto.size() == 1; }

class multi_lock_client;

class multi_lock_scenario final : public scenario_of<multi_lock_scenario, multi_lock_client> {
 public:
  explicit multi_lock_scenario(stage& in) : scenario_of(in), in_(in) {
    operator_interferes_ =
        std::ranges::any_of(in.what().faults, [](const fault& each) { return each.kind == fault_kind::remove_node; });
    for (auto each : paths) lines.emplace_back(in, each, multi_lock_markers, &is_alone);
  }

  void committed(const entry& what) override {
    for (auto& each : lines) each.committed(what);
  }
  void received(const connection& from, const backend::request& what) override {
    for (const auto& each : lines) each.received(from, what);
  }
  void healed() override {
    all_well = true;
    done.forget();
  }
  void check_quiet(const tree& nodes) override {
    for (const auto& each : lines) each.check_quiet(nodes);
  }
  const shared_line& line_of(const std::string& node) const {
    const auto which = std::ranges::find_if(paths, [&](const char* each) { return node.starts_with(each); });
    return lines[static_cast<std::size_t>(which - std::begin(paths))];
  }

  /// A client was told that it holds the locks that it has chosen: it must be the first in each of their lines.
  void granted(int client, std::int64_t session, const multi_ownership& held, std::vector<std::string> chosen) const {
    const auto who = "client " + std::to_string(client);
    std::ranges::sort(chosen);
    in_.require(held.size() == chosen.size(), "whoever owns has all", who);
    const bool is_sure = in_.servers().ephemeral_owner_alive(session) && !operator_interferes_;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const auto& path = held.at(i).path();
      in_.require(parent_path(path) == chosen[i], "in the order of the paths", who + ", " + path);
      if (!held.at(i).error()) line_of(path).granted(client, path);
      if (!is_sure) continue;
      const auto* there = in_.servers().committed_state().find(path);
      in_.require(there && there->stat.ephemeral_owner == session, "whoever owns has all", who + ", " + path);
    }
  }

  std::deque<shared_line> lines;
  bool all_well = false;

 private:
  stage& in_;
  bool operator_interferes_ = false;
};

class multi_lock_client final : public routine {
 public:
  multi_lock_client(multi_lock_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of) {}

 private:
  asio::awaitable<void> round() override {
    // Choose two or three locks, beginning at any of them and in either direction.
    std::vector<std::string> chosen(std::begin(paths), std::end(paths));
    std::rotate(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(dice().below(3)), chosen.end());
    if (dice().one_in(2)) std::reverse(chosen.begin(), chosen.end());
    if (dice().one_in(2)) chosen.pop_back();
    multi_lock some(zk(), chosen, {.id = "client"});
    const bool tries = dice().one_in(6);
    const bool waits_long = dice().one_in(2);
    const auto budget = dice().between(0ms, 3s);
    const auto begun = here().now();
    auto acquiring = waits<multi_ownership>([&](auto token) {
      if (tries) return some.async_try_acquire(std::move(token));
      return waits_long ? some.async_acquire(std::move(token)) : some.async_acquire_for(budget, std::move(token));
    });
    auto [error, held] = co_await std::move(acquiring);
    in().require(error != errc::busy || tries, "busy is for who tries", error.message());
    if (error == errc::timed_out) {
      in().require(!tries && !waits_long && here().now() - begun >= budget, "the budget is used up", "");
    }
    if (error && of_.all_well) {
      auto looking = leaves_nothing({std::begin(paths), std::end(paths)});
      co_await std::move(looking);
    }
    if (error) co_return;
    of_.done.note(client());
    of_.granted(client(), zk().status().session_id, held, chosen);
    co_await rest(0ms, 1s);
    if (dice().one_in(4)) co_return;  // the destructor releases them
    auto releasing = does<>([&won = held](auto token) { won.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  multi_lock_scenario& of_;
};

}  // namespace

std::unique_ptr<scenario> make_multi_lock_scenario(stage& in) { return std::make_unique<multi_lock_scenario>(in); }

// One lock: waited for, with a budget or without, or tried; and asked back from whoever has it, with a grace or
// without.

namespace {

constexpr const char* lock_path = "/lock";
constexpr std::string_view lock_markers[] = {"lock-"};

/// What has to be true of those who are asked to give the lock up.
class revocation_rules {
 public:
  explicit revocation_rules(stage& in) : in_(in) {}

  void committed(const entry& what) {
    for (const auto& each : what.changes) {
      if (each.type == change::kind::remove) {
        removed_.insert(each.path);
        standing_.erase(each.path);
      }
      if (each.type != change::kind::set || parent_path(each.path) != lock_path) continue;
      if (!detail::asks_revocation(each.data)) continue;
      const request one{in_.clock().now(), detail::grace_of(each.data)};
      requests_[each.path].push_back(one);
      if (const auto whose = grants_.find(each.path); whose != grants_.end()) expect_end(whose->second, one);
    }
  }
  void granted(int client, const ownership& held) {
    const auto whose = grants_[held.path()] = {client, held.token()};
    if (!removed_.contains(held.path())) standing_.insert(held.path());
    for (const auto& each : requests_[held.path()]) expect_end(whose, each);
  }
  /// A node whose owner was told that it owns the lock, for as long as it stands.
  std::string holder() const { return standing_.empty() ? std::string() : *standing_.begin(); }
  bool stands(const std::string& holder) const { return standing_.contains(holder); }
  /// The owner of this node was told that somebody asks for it; that its grace is over.
  void asked(const std::string& path) {
    in_.require(!requests_[path].empty(), "asked back only when somebody asks", path);
  }
  void taken(const std::string& path) {
    const bool is_over = std::ranges::any_of(requests_[path], [this](const request& each) {
      return each.has_end() && in_.clock().now() >= each.when + each.grace * 98 / 100;  // by its own clock
    });
    in_.require(is_over, "not taken before its grace is over", path);
  }

 private:
  struct request {
    instant when;
    std::chrono::milliseconds grace;
    bool has_end() const { return grace != detail::any_grace; }
  };
  struct grant {
    int client;
    std::int64_t token;
  };
  /// It hears of the request, reads it, and gives up at the end of the grace; or does not believe any more.
  void expect_end(grant whose, const request& asked) {
    if (!asked.has_end()) return;
    in_.clock().after(2 * in_.what().longest_ignorance() + asked.grace * 102 / 100, [this, whose] {
      in_.require(!in_.is_believed(whose.client, whose.token), "given up when the grace is over",
                  "client " + std::to_string(whose.client));
    });
  }

  stage& in_;
  std::map<std::string, std::vector<request>> requests_;  // by the node
  std::map<std::string, grant> grants_;
  std::set<std::string> removed_;
  std::set<std::string> standing_;  // granted, and not removed
};

/// A waiter hears that its place in the line has gone.
class waiting_rules {
 public:
  explicit waiting_rules(stage& in) : in_(in), attempts_(static_cast<std::size_t>(in.what().clients)) {}

  void began(int client) { of(client) = {++attempts_so_far_, 0}; }
  void got_in_line(int client, std::int64_t session) { of(client).session = session; }
  void ended(int client) { of(client) = {}; }

  void committed(const entry& what) {
    for (const auto& each : what.changes) {
      if (parent_path(each.path) != lock_path) continue;
      if (each.type == change::kind::create) owners_[each.path] = each.owner;
      if (each.type == change::kind::remove) removed(each.path);
    }
  }

 private:
  struct attempt {
    std::uint64_t number = 0;  ///< 0: none is under way.
    std::int64_t session = 0;  ///< With whose node it stands in line.
    friend bool operator==(const attempt&, const attempt&) = default;
  };
  attempt& of(int client) { return attempts_[static_cast<std::size_t>(client)]; }

  void removed(const std::string& path) {
    const auto session = owners_[path];
    owners_.erase(path);
    if (std::ranges::any_of(owners_, [&](const auto& each) { return each.second == session; })) return;
    for (int i = 0; i < in_.what().clients; ++i) {
      if (of(i).number && of(i).session == session) expect_end(i, of(i));
    }
  }
  /// Unless it sleeps.
  void expect_end(int client, attempt which) {
    in_.clock().after(in_.what().longest_ignorance(), [this, client, which] {
      if (of(client) != which || !in_.running(client)) return;
      if (in_.inside(client).paused()) return expect_end(client, which);
      in_.fail("a waiter hears that its place has gone", "client " + std::to_string(client));
    });
  }

  stage& in_;
  std::vector<attempt> attempts_;  // by client
  std::uint64_t attempts_so_far_ = 0;
  std::map<std::string, std::int64_t> owners_;  // of what stands in line
};

class lock_client;

class lock_scenario final : public scenario_of<lock_scenario, lock_client> {
 public:
  explicit lock_scenario(stage& in)
      : scenario_of(in),
        line(in, lock_path, lock_markers, [](const auto& upto) { return upto.size() == 1; }),
        revocations(in),
        waiting(in) {}

  void committed(const entry& what) override {
    line.committed(what);
    revocations.committed(what);
    waiting.committed(what);
  }
  void received(const connection& from, const backend::request& what) override { line.received(from, what); }
  void healed() override {
    all_well = true;
    done.forget();
  }
  void check_quiet(const tree& nodes) override { line.check_quiet(nodes); }

  shared_line line;
  revocation_rules revocations;
  waiting_rules waiting;
  bool all_well = false;
};

class lock_client final : public routine {
 public:
  lock_client(lock_scenario& of, stage& in, int client, session with)
      : routine(in, client, with),
        of_(of),
        extra_(in.what().seed, 910 + static_cast<std::uint64_t>(client)),
        lock_(with, lock_path, {.id = "client", .on_position = [this](std::size_t) { record_in_line(); }}) {
    of.waiting.ended(client);
  }

  belief believes(int) const override {
    if (held_.error() || here().now() >= held_.valid_until()) return {};
    return {true, here().true_time(held_.valid_until()), held_.token()};
  }

 private:
  asio::awaitable<void> round() override {
    if (dice().one_in(3)) co_await ask();
    if (extra_.one_in(3)) co_await ask_twice();
    const auto budget = dice().between(0ms, 3s);
    const bool tries = dice().one_in(5);
    const bool waits_long = dice().one_in(2);
    const auto begun = here().now();
    auto acquiring = waits<ownership>([&](auto token) {
      if (tries) return lock_.async_try_acquire(std::move(token));
      return waits_long ? lock_.async_acquire(std::move(token)) : lock_.async_acquire_for(budget, std::move(token));
    });
    of_.waiting.began(client());
    auto [error, held] = co_await std::move(acquiring);
    of_.waiting.ended(client());
    in().require(error != errc::busy || tries, "busy is for who tries", error.message());
    if (error == errc::timed_out) {
      in().require(!tries && !waits_long && here().now() - begun >= budget, "the budget is used up", "");
    }
    if (error && of_.all_well) {
      auto looking = leaves_nothing({lock_path});
      co_await std::move(looking);
    }
    if (error) co_return;
    of_.line.granted(client(), held.path());
    of_.revocations.granted(client(), held);
    held_ = std::move(held);
    of_.done.note(client());
    co_await hold();
    if (dice().one_in(4)) {
      held_ = ownership();
      co_return;
    }
    const auto let_go = here().now();
    const bool is_cut_off = zk().status().state != session_state::connected;
    auto releasing = does<>([&](auto token) { held_.async_release(std::move(token)); });
    co_await std::move(releasing);
    in().require(!is_cut_off || here().now() - let_go < 1s, "a release does not wait for a connection", "");
  }

  asio::awaitable<void> leave() override {
    held_ = ownership();
    co_return;
  }

  void record_in_line() { of_.waiting.got_in_line(client(), zk().status().session_id); }

  /// Two requests at the same moment: the owner reads only the later.
  asio::awaitable<void> ask_twice() {
    const auto holder = of_.revocations.holder();
    if (holder.empty()) co_return;
    auto looking = waits<node_data>([&](auto token) { zk().async_get(holder, std::move(token)); });
    auto [error, there] = co_await std::move(looking);
    if (error) co_return;
    const auto once = detail::with_revocation(there.data, 100ms);
    const auto twice = detail::with_revocation(once, extra_.one_in(2) ? detail::any_grace : 30s);
    const auto both = transaction().set(holder, once, there.stat.version).set(holder, twice);
    auto asking = waits<std::vector<operation_result>>([&](auto token) { zk().async_commit(both, std::move(token)); });
    co_await std::move(asking);
  }

  asio::awaitable<void> ask() {
    const std::chrono::milliseconds graces[] = {0ms, 100ms, 2s, detail::any_grace};
    const auto grace = graces[dice().below(4)];
    const auto holder = of_.revocations.holder();
    auto asking = waits<>([&](auto token) { lock_.async_request_revocation(grace, std::move(token)); });
    auto [error] = co_await std::move(asking);
    in().require(error != errc::no_node || !of_.revocations.stands(holder), "who holds it is found", holder);
  }

  /// Some give it up when they are asked, the others let it come to the end of the grace.
  asio::awaitable<void> hold() {
    const auto path = held_.path();
    const bool obeys = dice().one_in(2);
    auto asked = std::make_shared<bool>(false);
    auto told = std::make_shared<bool>(false);
    aside<>([&](auto token) { held_.async_revoked(std::move(token)); },
            [this, path, asked](error_code why) {
              if (why != errc::revoked) return;
              of_.revocations.asked(path);
              *asked = true;
            });
    aside<>([&](auto token) { held_.async_lost(std::move(token)); },
            [this, path, told](error_code why) {
              *told = true;
              in().require(is_loss(why) || why == errc::revoked || why == errc::closed,
                           "an ownership ends for a reason", why.message());
              if (why == errc::revoked) of_.revocations.taken(path);
            });
    span longest = of_.all_well ? 300ms : dice().one_in(8) ? 20s : 3s;
    if (!of_.all_well && extra_.one_in(4)) longest = 40s;
    const auto until = here().now() + dice().between(0ms, longest);
    bool was_over = false;
    while (!stopping() && !*told && !(obeys && *asked) && here().now() < until) {
      co_await rest(10ms, 100ms);
      was_over = is_over_for_good(was_over, *told);
    }
  }

  /// The belief has ended: that is told at once, unless the process slept. `error()` goes by the clock and would not
  /// show it.
  bool is_over_for_good(bool was_over, bool is_told) {
    const bool is_over = !is_told && here().now() >= held_.valid_until();
    in().require(!is_over || !was_over, "an owner hears that its belief has ended", held_.path());
    return is_over;
  }

  lock_scenario& of_;
  chance extra_;  // its draws leave those of `dice` what they were
  lock lock_;
  ownership held_;
};

}  // namespace

std::unique_ptr<scenario> make_lock_scenario(stage& in) { return std::make_unique<lock_scenario>(in); }

}  // namespace zkrecipes::simulation
