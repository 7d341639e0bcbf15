#include "worker/turn.hpp"

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <stdexcept>
#include <utility>

namespace interop {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s;

/// Any of our recipes that end in an ownership.
class owned_turn final : public turn {
 public:
  using acquisition = std::function<awaitable<zkrecipes::ownership>()>;
  explicit owned_turn(acquisition how) : acquire_(std::move(how)) {}
  awaitable<void> acquire() override { held_ = co_await acquire_(); }
  awaitable<void> release() override { co_await held_.async_release(use_awaitable); }

 private:
  acquisition acquire_;
  zkrecipes::ownership held_;
};

owned_turn::acquisition acquisition_of(const std::string& kind, zkrecipes::session zk,
                                       const std::string& path, const std::string& name) {
  if (kind == "mutex") {
    return [lock = zkrecipes::lock(zk, path, {.id = name})]() mutable {
      return lock.async_acquire_for(patience, use_awaitable);
    };
  }
  if (kind == "election" || kind == "election-as-selector") {
    using zkrecipes::election_names;
    const auto names = kind == "election" ? election_names::leader_latch : election_names::leader_selector;
    return [election = zkrecipes::election(zk, path, {.id = name, .names = names})]() mutable {
      return election.async_campaign(use_awaitable);
    };
  }
  const bool reads = kind == "read";
  if (!reads && kind != "write") throw std::invalid_argument("no such kind: " + kind);
  return [lock = zkrecipes::read_write_lock(zk, path, {.id = name}), reads]() mutable {
    return reads ? lock.async_acquire_read_for(patience, use_awaitable)
                 : lock.async_acquire_write_for(patience, use_awaitable);
  };
}

}  // namespace

std::unique_ptr<turn> make_turn(const std::string& kind, zkrecipes::session zk, const std::string& path,
                                const std::string& name) {
  return std::make_unique<owned_turn>(acquisition_of(kind, std::move(zk), path, name));
}

}  // namespace interop
