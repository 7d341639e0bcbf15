#include "backend/zookeeper/world.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/zookeeper/link.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;

namespace {

class real_link final : public link {
 public:
  explicit real_link(std::shared_ptr<c_client_link> shared) : shared_(std::move(shared)) {}
  ~real_link() override { shared_->abandon(); }
  void submit(request what, reply_handler handler) override { shared_->submit(std::move(what), std::move(handler)); }
  void close_session() override { shared_->close_session(); }

 private:
  std::shared_ptr<c_client_link> shared_;
};

/// Resolves one name after the other.
struct resolution : std::enable_shared_from_this<resolution> {
  resolution(asio::any_io_executor strand, std::vector<endpoint> todo, std::function<void(std::vector<endpoint>)> done)
      : resolver(strand), names(std::move(todo)), handler(std::move(done)) {}

  void next() {
    while (!names.empty()) {
      error_code not_numeric;
      asio::ip::make_address(names.back().address, not_numeric);
      if (not_numeric) return ask();
      found.push_back(std::move(names.back()));
      names.pop_back();
    }
    asio::post(resolver.get_executor(), [self = shared_from_this()] { self->handler(std::move(self->found)); });
  }

  void ask() {
    auto self = shared_from_this();
    resolver.async_resolve(names.back().address, std::string(), [self](error_code, const auto& results) {
      for (const auto& each : results) {
        self->found.push_back({each.endpoint().address().to_string(), self->names.back().port});
      }
      self->names.pop_back();
      self->next();
    });
  }

  asio::ip::tcp::resolver resolver;
  std::vector<endpoint> names;
  std::vector<endpoint> found;
  std::function<void(std::vector<endpoint>)> handler;
};

std::uint32_t draw_word() {
  static thread_local std::random_device source;
  return source();
}

class real_world final : public world {
 public:
  explicit real_world(asio::any_io_executor strand) : strand_(std::move(strand)), random_(make_generator(&draw_word)) {}

  lease_clock::time_point now() override { return lease_clock::now(); }
  std::chrono::system_clock::time_point wall_clock() override { return std::chrono::system_clock::now(); }
  std::uint64_t random() override { return random_(); }

  timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    timer_id id = ++last_timer_;
    const auto present = now();
    auto timer = std::make_unique<asio::steady_timer>(strand_, std::max(when, present) - present);
    // The handler of an expired timer can already be queued when the timer is cancelled or this world is destroyed.
    timer->async_wait([id, timers = std::weak_ptr(timers_), what = std::move(what)](error_code error) {
      auto alive = timers.lock();
      if (!error && alive && alive->erase(id)) what();
    });
    timers_->emplace(id, std::move(timer));
    return id;
  }
  void cancel(timer_id id) override { timers_->erase(id); }

  void resolve(std::vector<endpoint> names, std::function<void(std::vector<endpoint>)> handler) override {
    std::make_shared<resolution>(strand_, std::move(names), std::move(handler))->next();
  }

  std::unique_ptr<link> connect(link_options options, link_listener& listener) override {
    auto shared = std::make_shared<c_client_link>(strand_, listener);
    shared->connect(options);
    return std::make_unique<real_link>(std::move(shared));
  }

 private:
  asio::any_io_executor strand_;
  std::mt19937_64 random_;
  timer_id last_timer_ = 0;
  using timer_map = std::map<timer_id, std::unique_ptr<asio::steady_timer>>;
  std::shared_ptr<timer_map> timers_ = std::make_shared<timer_map>();
};

}  // namespace

std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw) {
  std::array<std::uint32_t, 8> words;  // twice the bits of a GUID, because mixing loses a few
  for (auto& each : words) each = draw();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

std::unique_ptr<world> make_real_world(asio::any_io_executor strand) {
  return std::make_unique<real_world>(std::move(strand));
}

}  // namespace zkrecipes::backend
