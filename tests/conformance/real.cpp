#include <vector>

#include <boost/asio/io_context.hpp>

#include <testcluster/ensemble.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "script.hpp"

namespace zkrecipes::conformance {

using namespace std::chrono_literals;

namespace {

testcluster::ensemble_options real_shape() {
  testcluster::ensemble_options options;
  options.tick_time = 250ms;
  return options;
}

class real_side final : public side {
 public:
  real_side() : servers_(real_shape()), world_(backend::make_real_world(io_.get_executor())) {
    for (const auto& each : servers_.nodes()) {
      const auto colon = each.address.rfind(':');
      addresses_.push_back(
          {each.address.substr(0, colon), static_cast<std::uint16_t>(std::stoi(each.address.substr(colon + 1)))});
    }
    leader_ = servers_.leader() - 1;
  }

  int leader() const override { return leader_; }

  std::unique_ptr<backend::link> connect(int server, backend::link_options options,
                                         backend::link_listener& listener) override {
    options.server = addresses_.at(static_cast<std::size_t>(server));
    return world_->connect(std::move(options), listener);
  }

  void expire(std::int64_t session) override { servers_.expire(session); }

  bool run_until(const std::function<bool()>& condition) override {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      io_.restart();
      io_.run_one_for(5ms);
      io_.poll();
    }
    return true;
  }

 private:
  testcluster::ensemble servers_;
  boost::asio::io_context io_;
  std::unique_ptr<backend::world> world_;
  std::vector<backend::endpoint> addresses_;
  int leader_ = 0;
};

}  // namespace

side& real() {
  static real_side only;
  return only;
}

}  // namespace zkrecipes::conformance
