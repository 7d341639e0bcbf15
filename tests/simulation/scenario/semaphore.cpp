// Permits taken in ones and twos and more, and a size that is changed while they are in use.
#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"
#include "scenario/shared_line.hpp"

#include "semaphore/permits.hpp"

#include <zkrecipes/semaphore.hpp>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* semaphore_path = "/permits";
constexpr std::string_view markers[] = {"-permit-"};
constexpr std::int32_t small = 3;
constexpr std::int32_t large = 4;

class semaphore_scenario final : public scenario {
 public:
  explicit semaphore_scenario(stage& in)
      : line(in, semaphore_path, markers, [this](const auto& upto) { return fits(upto); }), done(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path != semaphore_path || each.type != change::kind::set) continue;
      const auto record = detail::parse_permits(each.data);
      line.require(record.has_value(), "the size can be read", each.data);
      resized_ = record->before != 0;
    }
  }
  void received(const connection& from, const backend::request& what) override { line.received(from, what); }
  void healed() override { done.forget(); }
  bool recovered() override { return done.everybody(); }
  void check_quiet(const tree& nodes) override { line.check_quiet(nodes); }

  shared_line line;
  progress done;

 private:
  /// Whoever looked before the size was changed may still be let in by the one of before.
  bool fits(const std::vector<shared_line::member>& upto) const {
    std::int64_t sum = 0;
    for (const auto& each : upto) sum += detail::weight_of(each.name);
    return sum <= (resized_ ? large : small);
  }

  bool resized_ = false;
};

class client_of final : public routine {
 public:
  client_of(semaphore_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), permits_(with, semaphore_path, small, {.id = "client"}) {
    begin();
  }

 private:
  asio::awaitable<void> round() override {
    if (dice().one_in(10)) co_await resize();
    const auto weight = static_cast<std::int32_t>(1 + dice().below(small));
    const bool tries = dice().one_in(5);
    auto acquiring = waits<ownership>([&](auto token) {
      tries ? permits_.async_try_acquire(weight, std::move(token)) : permits_.async_acquire(weight, std::move(token));
    });
    auto [error, held] = co_await std::move(acquiring);
    of_.line.require(error != errc::size_mismatch && error != errc::foreign_data, "the size is known", permits_.problem());
    if (error) co_return;
    of_.done.note(client());
    of_.line.granted(client(), held.path());
    co_await rest(0ms, 1s);
    if (dice().one_in(4)) co_return;  // let go by the destructor
    auto releasing = does<>([&](auto token) { held.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  asio::awaitable<void> resize() {
    const auto size = dice().one_in(2) ? small : large;
    auto resizing = waits<>([&](auto token) { permits_.async_resize(size, std::move(token)); });
    co_await std::move(resizing);
  }

  semaphore_scenario& of_;
  semaphore permits_;
};

std::unique_ptr<program> semaphore_scenario::start(stage& in, int client, session with) {
  return std::make_unique<client_of>(*this, in, client, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_semaphore_scenario(stage& in) { return std::make_unique<semaphore_scenario>(in); }

}  // namespace zkrecipes::simulation
