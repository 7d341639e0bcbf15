// Some of three locks at once, named in any order.
#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"
#include "scenario/shared_line.hpp"

#include <zkrecipes/multi_lock.hpp>

#include <deque>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view multi_lock_markers[] = {"lock-"};
constexpr const char* paths[] = {"/red", "/green", "/blue"};

bool is_alone(const std::vector<shared_line::member>& upto) { return upto.size() == 1; }

class multi_lock_scenario final : public scenario {
 public:
  explicit multi_lock_scenario(stage& in) : done(in) {
    for (auto each : paths) lines.emplace_back(in, each, multi_lock_markers, &is_alone);
  }

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override {
    for (auto& each : lines) each.committed(what);
  }
  void received(const connection& from, const backend::request& what) override {
    for (const auto& each : lines) each.received(from, what);
  }
  void healed() override { done.forget(); }
  bool recovered() override { return done.everybody(); }
  void check_quiet(const tree& nodes) override {
    for (const auto& each : lines) each.check_quiet(nodes);
  }
  const shared_line& line_of(const std::string& node) const {
    const auto which = std::ranges::find_if(paths, [&](const char* each) { return node.starts_with(each); });
    return lines[static_cast<std::size_t>(which - std::begin(paths))];
  }

  std::deque<shared_line> lines;
  progress done;
};

class multi_lock_client final : public routine {
 public:
  multi_lock_client(multi_lock_scenario& of, stage& in, int client, session with) : routine(in, client, with), of_(of) {
    begin();
  }

 private:
  asio::awaitable<void> round() override {
    // Two or three of them, beginning anywhere and going either way.
    std::vector<std::string> chosen(std::begin(paths), std::end(paths));
    std::rotate(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(dice().below(3)), chosen.end());
    if (dice().one_in(2)) std::reverse(chosen.begin(), chosen.end());
    if (dice().one_in(2)) chosen.pop_back();
    multi_lock some(zk(), chosen, {.id = "client"});
    auto acquiring = waits<multi_ownership>([&](auto token) { some.async_acquire(std::move(token)); });
    auto [error, held] = co_await std::move(acquiring);
    if (error) co_return;
    of_.done.note(client());
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!held.at(i).error()) of_.line_of(held.at(i).path()).granted(client(), held.at(i).path());
    }
    co_await rest(0ms, 1s);
    if (dice().one_in(4)) co_return;  // let go by the destructor
    auto releasing = does<>([&](auto token) { held.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  multi_lock_scenario& of_;
};

std::unique_ptr<program> multi_lock_scenario::start(stage& in, int client, session with) {
  return std::make_unique<multi_lock_client>(*this, in, client, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_multi_lock_scenario(stage& in) { return std::make_unique<multi_lock_scenario>(in); }

}  // namespace zkrecipes::simulation
