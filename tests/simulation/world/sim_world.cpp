#include "world/sim_world.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "backend/world.hpp"
#include "session/core.hpp"
#include "world/broker_network.hpp"

namespace zkrecipes::simulation {

namespace {
constexpr span epoch = std::chrono::hours(1);  // where each process's clock starts: zero means "never" in the library
constexpr std::int64_t million = 1'000'000;
}  // namespace

process::process(clockwork& clock, int number, std::int64_t parts_per_million, std::function<void()> stepped)
    : clock_(clock),
      number_(number),
      parts_per_million_(parts_per_million),
      stepped_(std::move(stepped)),
      io_(std::make_unique<asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)),
      strand_(asio::require(io_->get_executor(), asio::execution::blocking.never)) {}

lease_clock::time_point process::local(instant when) const {
  return lease_clock::time_point(epoch + when + when / million * parts_per_million_);
}

lease_clock::time_point process::now() {
  if (++looks_ > max_looks) {
    ran_away_ = true;  // noted here, too: the exception may end a coroutine whose result is not looked at
    throw std::runtime_error("busy loop");
  }
  return local(clock_.now());
}

instant process::true_time(lease_clock::time_point when) const {
  auto passed = when.time_since_epoch() - epoch;
  return passed - passed / (million + parts_per_million_) * parts_per_million_;
}

std::uint64_t process::call_at(lease_clock::time_point when, std::function<void()> what) {
  const auto timer = ++last_timer_;
  timers_.emplace(timer, std::move(what));
  auto due = true_time(when);
  while (local(due) < when) due += std::chrono::microseconds(1);
  clock_.at(due, [weak = weak_from_this(), timer] {
    if (auto self = weak.lock()) self->expire(timer);
  });
  return timer;
}

void process::expire(std::uint64_t timer) {
  if (!alive_ || !timers_.contains(timer)) return;
  if (paused_) return due_.push_back(timer);
  strand_.execute([this, timer] {
    auto found = timers_.find(timer);
    if (found == timers_.end()) return;  // cancelled while this handler was queued
    auto what = std::move(found->second);
    timers_.erase(found);
    what();
  });
  poll();
}

void process::receive(action what) {
  if (!alive_) return;
  if (paused_) return received_.push_back(std::move(what));
  strand_.execute(std::move(what));
  poll();
}

void process::run(const std::function<void()>& what) {
  if (!alive_) return;
  what();
  if (!paused_) poll();
}

void process::resume(bool network_first) {
  if (!std::exchange(paused_, false) || !alive_) return;
  auto receive_all = [this] {
    for (auto& each : std::exchange(received_, {})) strand_.execute(std::move(each));
    poll();
  };
  if (network_first) receive_all();
  for (auto timer : std::exchange(due_, {})) expire(timer);
  receive_all();
}

void process::kill(const std::function<void()>& drop) {
  if (!std::exchange(alive_, false)) return;
  drop();
  // Destroy the handlers of timers and of the network while the executor still exists, because they may use it.
  std::exchange(timers_, {});
  std::exchange(kept_, {});
  received_.clear();
  due_.clear();
  strand_ = {};
  io_.reset();
  timers_.clear();
}

void process::poll() {
  io_->restart();
  int handlers = 0;
  looks_ = 0;
  around_(true);
  const auto leave = [this](process*) { around_(false); };
  std::unique_ptr<process, decltype(leave)> inside(this, leave);
  try {
    while (handlers < max_handlers && io_->poll_one() > 0) ++handlers;
  } catch (const std::runtime_error&) {
    handlers = max_handlers;
  }
  inside.reset();
  ran_away_ = ran_away_ || handlers == max_handlers;
  looks_ = 0;
  stepped_();
}

void wire::connect(const backend::link_options& options) {
  connection_ = where_.servers->connect(where_.inside->number(), options.server.port - 2181, options, *this);
  where_.connected(connection_);
}

void wire::submit(backend::request what, backend::reply_handler handler) {
  if (closing_) {
    return inside([handler = std::move(handler)](wire&) {
      backend::reply refused;
      refused.error = errc::closed;
      handler(std::move(refused));
    });
  }
  sent_ = where_.inside->now();
  pending_.push_back(std::move(handler));
  if (connection_ && where_.inside->alive()) where_.servers->send(connection_, std::move(what));
}

void wire::close_session() {
  if (std::exchange(closing_, true) || !connection_ || !where_.inside->alive()) return;
  where_.servers->send_close(connection_);
}

void wire::abandon() {
  listener_ = nullptr;
  pending_.clear();
  drop();
}

void wire::drop() {
  if (timer_) where_.inside->cancel(std::exchange(timer_, 0));
  if (connection_) where_.servers->drop(std::exchange(connection_, nullptr));
}

/// Handles what arrived from the network on the process's strand, once the process runs.
template <class Function>
void wire::inside(Function what) {
  where_.inside->receive([weak = weak_from_this(), what = std::move(what)]() mutable {
    auto self = weak.lock();
    if (!self || !self->listener_) return;
    self->heard_ = self->where_.inside->now();
    what(*self);
  });
}

void wire::granted(const backend::session_key& key) {
  inside([key](wire& self) {
    self.timeout_ = key.timeout;
    self.sent_ = self.where_.inside->now();
    self.where_.notes->note(self.where_.inside->number(), "connected", {}, key.id);
    self.stay_alive();
    self.listener_->up(key);
  });
}

void wire::refused() {
  inside([](wire& self) { self.fail(errc::session_expired); });
}

void wire::answered(backend::reply answer) {
  inside([answer = std::move(answer)](wire& self) mutable {
    if (self.closing_ || self.pending_.empty()) return;  // like the C client's link: closing, it only waits for the end
    auto handler = std::move(self.pending_.front());
    self.pending_.pop_front();
    handler(std::move(answer));
  });
}

void wire::ponged() {
  inside([](wire&) {});
}

void wire::fired(const backend::watch_event& event) {
  inside([event](wire& self) {
    if (!self.closing_) self.listener_->fired(event);
  });
}

void wire::broken() {
  inside([](wire& self) { self.fail(errc::connection_loss); });
}

void wire::fail(error_code reason) {
  auto keep = shared_from_this();
  if (closing_) reason = errc::closed;
  where_.notes->note(where_.inside->number(), "disconnected", reason.message());
  drop();
  for (auto& each : std::exchange(pending_, {})) {
    backend::reply lost;
    lost.error = errc::connection_loss;
    each(std::move(lost));
  }
  if (auto* listener = std::exchange(listener_, nullptr)) listener->down(reason);
}

/// Sends a ping after a third of the timeout without a request, and takes the server for dead after two thirds of the
/// timeout in which nothing came from it.
void wire::stay_alive() {
  const auto now = where_.inside->now();
  if (now - heard_ >= timeout_ * 2 / 3) return fail(errc::timed_out);
  if (now - sent_ >= timeout_ / 3) {
    sent_ = now;
    where_.servers->send_ping(connection_);
  }
  const auto next = std::min(sent_ + timeout_ / 3, heard_ + timeout_ * 2 / 3);
  timer_ = where_.inside->call_at(next, [this] {
    timer_ = 0;
    if (listener_) stay_alive();
  });
}

/// The client's end of a connection to a broker.
/// Does what a socket does. The handlers that wait belong to the process, as those of Asio belong to its context.
class stream_end final : public wire_end, public std::enable_shared_from_this<stream_end> {
 public:
  using moved = backend::broker_stream::moved;

  stream_end(process_ptr inside, broker_network& network) : inside_(std::move(inside)), network_(network) {}

  void connect(const backend::endpoint& broker, backend::broker_stream::connected then);
  void read_some(asio::mutable_buffer to, moved then);
  void write(asio::const_buffer all, moved then);
  void close();

 private:
  /// A handler that waits.
  struct waiting {
    std::uint64_t kept = 0;
    std::weak_ptr<moved> then{};
  };

  void connected() override;
  void receive(std::string_view bytes) override;
  void drained() override;
  void lose(const error_code& why) override;

  void wait(waiting& which, moved then);
  moved take(waiting& which);
  void finish(waiting& which, const error_code& why, std::size_t size);
  template <class Function>
  void inside(Function what);
  void read();
  void complete_write();

  process_ptr inside_;
  broker_network& network_;
  broker_wire_ptr wire_;
  waiting connecting_;
  waiting reading_;
  waiting writing_;
  asio::mutable_buffer into_;
  std::size_t writes_ = 0;  // bytes of the write under way
  std::string arrived_;     // and not read
  error_code failure_;
  bool is_closed_ = false;
};

using side = broker_wire::side;

namespace {

constexpr std::size_t most_unread = 32 << 10;  // what the system takes although the broker does not read

}  // namespace

/// A process that is being killed waits for nothing.
void stream_end::wait(waiting& which, moved then) {
  if (!inside_->alive()) return;
  const auto kept = std::make_shared<moved>(std::move(then));
  which.then = kept;
  which.kept = inside_->keep(kept);
}

stream_end::moved stream_end::take(waiting& which) {
  const auto found = std::exchange(which, {});
  const auto held = found.then.lock();
  inside_->let_go(found.kept);
  return held ? std::move(*held) : moved();
}

void stream_end::finish(waiting& which, const error_code& why, std::size_t size) {
  if (auto then = take(which)) then(why, size);
}

/// Handles what the network does, once the process runs.
template <class Function>
void stream_end::inside(Function what) {
  inside_->receive([weak = weak_from_this(), what = std::move(what)]() mutable {
    const auto self = weak.lock();
    if (self && !self->is_closed_) what(*self);
  });
}

void stream_end::connect(const backend::endpoint& broker, backend::broker_stream::connected then) {
  wait(connecting_, [then = std::move(then)](const error_code& why, std::size_t) { then(why); });
  if (inside_->alive()) wire_ = network_.connect(inside_->number(), broker, shared_from_this());
}

void stream_end::connected() {
  inside([](stream_end& self) { self.finish(self.connecting_, {}, 0); });
}

void stream_end::receive(std::string_view bytes) {
  inside([some = std::string(bytes)](stream_end& self) {
    self.arrived_ += some;
    self.read();
  });
}

void stream_end::lose(const error_code& why) {
  inside([why](stream_end& self) {
    self.failure_ = why;
    const auto keep = self.shared_from_this();
    self.finish(self.connecting_, why, 0);
    self.finish(self.writing_, why, 0);
    self.read();
  });
}

void stream_end::drained() {
  inside([](stream_end& self) { self.complete_write(); });
}

void stream_end::read_some(asio::mutable_buffer to, moved then) {
  into_ = to;
  wait(reading_, std::move(then));
  if (arrived_.empty() && !failure_) return;
  inside_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->read();
  });
}

/// What has arrived is read before the end of the connection is noticed.
void stream_end::read() {
  if (reading_.kept == 0 || (arrived_.empty() && !failure_)) return;
  const auto size = asio::buffer_copy(into_, asio::buffer(arrived_));
  arrived_.erase(0, size);
  finish(reading_, size > 0 ? error_code() : failure_, size);
}

void stream_end::write(asio::const_buffer all, moved then) {
  writes_ = all.size();
  wait(writing_, std::move(then));
  if (wire_ && !failure_ && inside_->alive())
    wire_->send(side::client, {static_cast<const char*>(all.data()), all.size()});
  inside_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->complete_write();
  });
}

void stream_end::complete_write() {
  if (writing_.kept == 0) return;
  if (failure_) return finish(writing_, failure_, 0);
  if (wire_->unread(side::client) <= most_unread) finish(writing_, {}, writes_);
}

void stream_end::close() {
  if (std::exchange(is_closed_, true)) return;
  const bool is_alive = inside_->alive();
  if (wire_) is_alive ? wire_->close(side::client) : network_.lose_process(*wire_);
  for (auto* each : {&connecting_, &reading_, &writing_}) {
    auto then = take(*each);
    if (!then || !is_alive) continue;
    inside_->post([then = std::move(then)] { then(asio::error::operation_aborted, 0); });
  }
}

namespace {

class sim_link final : public backend::link {
 public:
  explicit sim_link(std::shared_ptr<wire> shared) : shared_(std::move(shared)) {}
  ~sim_link() override { shared_->abandon(); }
  void submit(backend::request what, backend::reply_handler handler) override {
    shared_->submit(std::move(what), std::move(handler));
  }
  void close_session() override { shared_->close_session(); }

 private:
  std::shared_ptr<wire> shared_;
};

class sim_stream final : public backend::broker_stream {
 public:
  explicit sim_stream(std::shared_ptr<stream_end> shared) : shared_(std::move(shared)) {}
  ~sim_stream() override { shared_->close(); }
  void connect(const backend::endpoint& broker, connected then) override { shared_->connect(broker, std::move(then)); }
  void read_some(asio::mutable_buffer to, moved then) override { shared_->read_some(to, std::move(then)); }
  void write(asio::const_buffer all, moved then) override { shared_->write(all, std::move(then)); }
  void close() override { shared_->close(); }

 private:
  std::shared_ptr<stream_end> shared_;
};

class sim_world final : public backend::world {
 public:
  sim_world(surroundings where, asio::any_io_executor strand)
      : where_(std::move(where)), strand_(std::move(strand)), chance_(where_.seed, 7) {
    where_.inside->happen_on(strand_);
  }

  lease_clock::time_point now() override { return where_.inside->now(); }
  std::chrono::system_clock::time_point wall_clock() override {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(now().time_since_epoch()));
  }
  std::uint64_t random() override { return chance_.draw(); }
  backend::timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    return where_.inside->call_at(when, std::move(what));
  }
  void cancel(backend::timer_id id) override { where_.inside->cancel(id); }

  void resolve(std::vector<backend::endpoint> names, backend::resolve_handler handler) override {
    std::vector<backend::resolved_name> all;
    for (const auto& each : names) all.push_back({each, {each}});
    asio::post(strand_, [all = std::move(all), handler = std::move(handler)] { handler(all); });
  }

  std::unique_ptr<backend::link> connect(backend::link_options options, backend::link_listener& listener) override {
    auto made = std::make_shared<wire>(where_, listener);
    made->connect(options);
    return std::make_unique<sim_link>(std::move(made));
  }

  /// Plain text, whatever is asked for.
  std::unique_ptr<backend::broker_stream> open_broker(const backend::endpoint&, const std::string&,
                                                      const std::shared_ptr<backend::tls_context>&) override {
    if (!where_.brokers) return nullptr;
    return std::make_unique<sim_stream>(std::make_shared<stream_end>(where_.inside, *where_.brokers));
  }

 private:
  surroundings where_;
  asio::any_io_executor strand_;
  chance chance_;
};

}  // namespace

std::unique_ptr<backend::world> make_world(const surroundings& where, asio::any_io_executor strand) {
  return std::make_unique<sim_world>(where, std::move(strand));
}

session make_session(const surroundings& where, session_options options) {
  auto world = [&](asio::any_io_executor strand) { return make_world(where, std::move(strand)); };
  return session(detail::make_core(where.inside->executor(), std::move(options), world));
}

std::string hosts(int servers) {
  std::string text;
  for (int i = 0; i < servers; ++i) text += (i ? ",10.0.0.1:" : "10.0.0.1:") + std::to_string(2181 + i);
  return text;
}

}  // namespace zkrecipes::simulation
