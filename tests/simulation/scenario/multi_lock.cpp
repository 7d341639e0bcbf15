// The clients acquire two or three of three locks together, named in any order.
#include <deque>

#include <zkrecipes/multi_lock.hpp>

#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"
#include "scenario/shared_line.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
