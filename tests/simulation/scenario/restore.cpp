// A backup of the servers' data is put back while processes use a lock and count. What a backup takes away is lost; but
// nobody waits for what it brings back, and no session takes the older state for the newer one.
#include <algorithm>

#include <zkrecipes/lock.hpp>

#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr const char* lock_path = "/restored";
constexpr const char* counted_path = "/counted";

class restored_client;

class restore_scenario final : public scenario_of<restore_scenario, restored_client> {
 public:
  explicit restore_scenario(stage& in) : scenario_of(in), in_(in), chance_(in.what().seed, 990) {
    in.take_leases();
    in.clock().after(chance_.between(1s, 10s), [this] { back_up(); });
  }

  void healed() override {
    is_over_ = true;
    done.forget();
  }
  void check_quiet(const tree& nodes) override {
    for (const auto& [path, each] : nodes.nodes()) {
      in_.require(parent_path(path) != lock_path, "nothing stands in line that nobody knows", path);
    }
  }

 private:
  void back_up() {
    if (is_over_) return;
    const bool is_made = in_.servers().back_up();
    const auto pause = is_made ? chance_.between(100ms, 8s) : span(100ms);
    const bool is_old = is_made && chance_.one_in(2);
    in_.clock().after(pause, [this, is_made, is_old] {
      if (!is_made) return back_up();
      is_old ? change_leader(2) : restore();
    });
  }
  /// Afterwards the backup is of an earlier epoch than the one before the present.
  void change_leader(int times) {
    if (is_over_) return;
    const int leader = in_.servers().leader();
    if (leader >= 0) in_.servers().crash(leader);
    in_.clock().after(500ms, [this, leader] {
      if (leader >= 0) in_.servers().restart(leader);
    });
    const int left = leader >= 0 ? times - 1 : times;
    in_.clock().after(2s, [this, left] { left > 0 ? change_leader(left) : restore(); });
  }
  void restore() {
    if (is_over_) return;
    const bool is_restored = in_.servers().restore();
    const auto pause = is_restored ? chance_.between(2s, 10s) : span(100ms);
    in_.clock().after(pause, [this, is_restored] { is_restored ? back_up() : restore(); });
  }

  stage& in_;
  chance chance_;
  bool is_over_ = false;
};

class restored_client final : public routine {
 public:
  restored_client(restore_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), lock_(with, lock_path, {.id = "client"}) {}

 private:
  asio::awaitable<void> round() override {
    auto acquiring = waits<ownership>([&](auto token) { return lock_.async_acquire_for(20s, std::move(token)); });
    auto [error, held] = co_await std::move(acquiring);
    co_await count();
    if (error) co_return;
    of_.done.note(client());
    co_await rest(10ms, 500ms);
    auto releasing = does<>([&](auto token) { held.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  /// The servers can go back without lower numbers, if no leader was elected since the backup.
  asio::awaitable<void> count() {
    const auto here = zk().status().session_id;
    auto writing =
        does<node_stat>([&](auto token) { zk().async_set(counted_path, "", any_version, std::move(token)); });
    auto [error, written] = co_await std::move(writing);
    if (error == errc::no_node) {
      auto making = does<created_node>(
          [&](auto token) { zk().async_create(counted_path, "", create_mode::persistent, std::move(token)); });
      co_await std::move(making);
    }
    if (error || here == 0 || zk().status().session_id != here) co_return;
    in().require(session_ != here || written.mzxid > seen_, "no older state in the same session",
                 std::to_string(written.mzxid));
    session_ = here;
    seen_ = written.mzxid;
  }

  restore_scenario& of_;
  lock lock_;
  std::int64_t session_ = 0;
  std::int64_t seen_ = 0;
};

}  // namespace

std::unique_ptr<scenario> make_restore_scenario(stage& in) { return std::make_unique<restore_scenario>(in); }

}  // namespace zkrecipes::simulation
