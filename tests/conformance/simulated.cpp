#include <utility>

#include "script.hpp"
#include "world/clockwork.hpp"
#include "world/sim_world.hpp"

namespace zkrecipes::conformance {

namespace sim = simulation;
using namespace std::chrono_literals;

namespace {

class nobody final : public sim::ensemble_observer {
  void committed(const sim::entry&) override {}
  void received(const sim::connection&, const backend::request&) override {}
  void watch_fired(const sim::connection&, const backend::watch_event&) override {}
};

class wire_link final : public backend::link {
 public:
  explicit wire_link(std::shared_ptr<sim::wire> end) : end_(std::move(end)) {}
  ~wire_link() override { end_->abandon(); }
  void submit(backend::request what, backend::reply_handler handler) override {
    end_->submit(std::move(what), std::move(handler));
  }
  void close_session() override { end_->close_session(); }

 private:
  std::shared_ptr<sim::wire> end_;
};

sim::ensemble_settings simulated_shape() {
  sim::ensemble_settings settings;
  settings.tick = 250ms;
  return settings;
}

class simulated_side final : public side {
 public:
  explicit simulated_side(std::uint64_t seed)
      : servers_(clock_, simulated_shape(), seed, nobody_),
        client_(std::make_shared<sim::process>(clock_, 0, 0, [] {})) {}
  ~simulated_side() override {
    client_->kill([] {});
  }

  int leader() const override { return servers_.leader(); }

  std::unique_ptr<backend::link> connect(int server, backend::link_options options,
                                         backend::link_listener& listener) override {
    auto end = std::make_shared<sim::wire>(
        sim::surroundings{client_, &servers_, &notes_, 0, [](const sim::connection_ptr&) {}}, listener);
    options.server.port = static_cast<std::uint16_t>(2181 + server);
    end->connect(options);
    return std::make_unique<wire_link>(std::move(end));
  }

  void expire(std::int64_t session) override { servers_.expire(session); }

  bool run_until(const std::function<bool()>& condition) override {
    const auto limit = clock_.now() + 60s;
    while (!condition()) {
      if (!clock_.step(limit)) return false;
    }
    return true;
  }

 private:
  sim::clockwork clock_;
  nobody nobody_;
  sim::journal notes_{clock_, false};
  sim::ensemble servers_;
  sim::process_ptr client_;
};

}  // namespace

std::unique_ptr<side> simulated(int leader, std::uint64_t seed) {
  for (;; ++seed) {
    auto made = std::make_unique<simulated_side>(seed);
    if (made->leader() == leader) return made;
  }
}

}  // namespace zkrecipes::conformance
