#include "operations/setting.hpp"

#include <utility>

#include "operations/failing_memory.hpp"
#include "session/core.hpp"

namespace zkrecipes::test {

using namespace std::chrono_literals;

namespace {

/// A connection of the simulated world, whose allocations are none of the library's.
class uncounted_link final : public backend::link {
 public:
  explicit uncounted_link(std::unique_ptr<backend::link> real) : real_(std::move(real)) {}
  ~uncounted_link() override {
    const uncounted here;
    real_.reset();
  }
  void submit(backend::request what, backend::reply_handler handler) override {
    const uncounted here;
    real_->submit(std::move(what), std::move(handler));
  }
  void close_session() override {
    const uncounted here;
    real_->close_session();
  }

 private:
  std::unique_ptr<backend::link> real_;
};

/// A connection that is never established: it goes down after a millisecond.
class dead_link final : public backend::link {
 public:
  dead_link(std::shared_ptr<backend::world> in, backend::link_listener& listener, errc why) : in_(std::move(in)) {
    timer_ = in_->call_at(in_->now() + 1ms, [this, &listener, why] {
      timer_ = 0;
      listener.down(why);
    });
  }
  ~dead_link() override {
    if (timer_) in_->cancel(timer_);
  }
  void submit(backend::request, backend::reply_handler) override {}
  void close_session() override {}

 private:
  std::shared_ptr<backend::world> in_;
  backend::timer_id timer_ = 0;
};

class gated_world final : public backend::world {
 public:
  gated_world(std::unique_ptr<backend::world> real, std::shared_ptr<gate> entrance)
      : real_(std::move(real)), gate_(std::move(entrance)) {}

  lease_clock::time_point now() override { return real_->now(); }
  std::chrono::system_clock::time_point wall_clock() override { return real_->wall_clock(); }
  std::uint64_t random() override { return real_->random(); }
  backend::timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    const uncounted here;
    return real_->call_at(when, std::move(what));
  }
  void cancel(backend::timer_id id) override { real_->cancel(id); }
  void resolve(std::vector<backend::endpoint> names, backend::resolve_handler handler) override {
    const uncounted here;
    real_->resolve(std::move(names), std::move(handler));
  }

  std::unique_ptr<backend::link> connect(backend::link_options options, backend::link_listener& listener) override {
    const bool let_in = gate_->still_let_in > 0 || gate_->stands == door::open;
    if (gate_->still_let_in > 0) --gate_->still_let_in;
    const uncounted here;
    if (let_in) return std::make_unique<uncounted_link>(real_->connect(std::move(options), listener));
    static constexpr errc reasons[] = {errc::connection_loss, errc::connection_loss, errc::no_descriptors,
                                       errc::auth_failed};
    return std::make_unique<dead_link>(real_, listener, reasons[static_cast<int>(gate_->stands)]);
  }

 private:
  std::shared_ptr<backend::world> real_;
  std::shared_ptr<gate> gate_;
};

simulation::ensemble_settings one_server() {
  simulation::ensemble_settings one;
  one.servers = 1;
  return one;
}

}  // namespace

setting::setting(door first, session_options with) : servers_(clock_, one_server(), 1, *this) {
  gate_->stands = first;
  inside_ = std::make_shared<simulation::process>(clock_, 0, 0, [] {});
  simulation::surroundings where{inside_, &servers_, &notes_, 1, {}};
  where.connected = [this](const simulation::connection_ptr& made) { wire_ = made; };
  inside_->observe_handlers(&count_memory);
  with.hosts = simulation::hosts(1);
  with.timeout = 4s;
  auto world = [&](asio::any_io_executor strand) {
    return std::make_unique<gated_world>(simulation::make_world(where, std::move(strand)), gate_);
  };
  inside_->run([&] { zk_.emplace(detail::make_core(inside_->executor(), std::move(with), world)); });
}

setting::~setting() {
  inside_->kill([this] {
    kept_.clear();
    zk_.reset();
  });
}

void setting::break_connection() {
  if (wire_) servers_.break_connection(wire_);
}

void setting::expire() {
  servers_.expire(zk_->status().session_id);
  break_connection();
}

bool setting::wait(simulation::span longest, const std::function<bool()>& condition) {
  const auto limit = clock_.now() + longest;
  while (!condition()) {
    if (!clock_.step(limit)) return condition();
  }
  return true;
}

void setting::pass(simulation::span how_long) {
  wait(how_long, [] { return false; });
}

}  // namespace zkrecipes::test
