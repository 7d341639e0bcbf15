// Readers and writers of one lock, which also downgrade and upgrade.
#include <algorithm>

#include <zkrecipes/read_write_lock.hpp>

#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"
#include "scenario/shared_line.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
