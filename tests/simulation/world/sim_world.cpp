#include "world/sim_world.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "session/make.hpp"
#include "world/stream_end.hpp"
#include "world/wire.hpp"

namespace zkrecipes::simulation {

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
