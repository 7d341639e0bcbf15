#include "backend/zookeeper/real_world.hpp"

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <time.h>

#include "backend/broker_socket.hpp"
#include "backend/guardian/socket_guardian_line.hpp"
#include "backend/link.hpp"
#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/name_resolutions.hpp"
#include "backend/zookeeper/timer_queue.hpp"

namespace zkrecipes::backend {

std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw) {
  std::array<std::uint32_t, 8> words;  // twice the bits of a GUID, because mixing loses a few
  for (auto& each : words) each = draw();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

/// The owner of a connection of the C client. Its destructor abandons the connection: no callback comes after it.
class real_link final : public link {
 public:
  explicit real_link(std::shared_ptr<c_client_link> shared) : shared_(std::move(shared)) {}
  real_link(const real_link&) = delete;
  ~real_link() override { shared_->abandon(); }
  void submit(request what, reply_handler handler) override { shared_->submit(std::move(what), std::move(handler)); }
  void close_session() override { shared_->close_session(); }

 private:
  std::shared_ptr<c_client_link> shared_;
};

namespace asio = boost::asio;

namespace {

std::uint32_t draw_word() {
  static thread_local std::random_device source;
  return source();
}

class real_world final : public world {
 public:
  explicit real_world(asio::any_io_executor strand)
      : strand_(std::move(strand)),
        names_(std::make_shared<name_resolutions>(strand_)),
        random_(make_generator(&draw_word)),
        timers_(std::make_shared<timer_queue>(strand_)) {}
  ~real_world() override { timers_->stop(); }

  lease_clock::time_point now() override { return lease_clock::now(); }
  lease_clock::time_point rough_now() override {
    timespec present{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &present);
    return lease_clock::time_point(std::chrono::seconds(present.tv_sec) + std::chrono::nanoseconds(present.tv_nsec));
  }
  std::chrono::system_clock::time_point wall_clock() override { return std::chrono::system_clock::now(); }
  std::uint64_t random() override { return random_(); }

  timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    return timers_->call_at(when, std::move(what));
  }
  void cancel(timer_id id) override { timers_->cancel(id); }

  void resolve(std::vector<endpoint> names, resolve_handler handler) override {
    names_->resolve(std::move(names), std::move(handler));
  }
  void abandon_lookups() override { names_->abandon(); }

  std::unique_ptr<link> connect(link_options options, link_listener& listener) override {
    auto shared = std::make_shared<c_client_link>(strand_, listener);
    shared->connect(std::move(options));
    return std::make_unique<real_link>(std::move(shared));
  }

  std::unique_ptr<guardian_line> call_guardian(const std::string& path, guardian_listener& listener) override {
    auto shared = std::make_shared<guardian_stream>(strand_, listener);
    shared->connect(path);
    return std::make_unique<socket_guardian_line>(std::move(shared));
  }

  std::unique_ptr<broker_stream> open_broker(const endpoint& broker, const std::string& name,
                                             const std::shared_ptr<tls_context>& tls) override {
    std::optional<tls_context::connection> secure;
    if (tls) secure = tls->make(to_string(broker), {name});
    return std::make_unique<broker_socket>(strand_, std::move(secure));
  }

 private:
  asio::any_io_executor strand_;
  std::shared_ptr<name_resolutions> names_;
  std::mt19937_64 random_;
  std::shared_ptr<timer_queue> timers_;
};

}  // namespace

std::unique_ptr<world> make_real_world(asio::any_io_executor strand) {
  return std::make_unique<real_world>(std::move(strand));
}

}  // namespace zkrecipes::backend
