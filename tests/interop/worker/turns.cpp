#include <functional>
#include <istream>
#include <stdexcept>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>

#include "worker/player.hpp"
#include "worker/witness.hpp"

namespace interop {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

namespace {

constexpr auto time_limit = 30s;

/// Acquires any of our recipes whose result is an ownership.
using acquisition = std::function<awaitable<zkrecipes::ownership>()>;

acquisition acquisition_of(const std::string& kind, const zkrecipes::session& zk, const std::string& path,
                           const std::string& name) {
  if (kind == "mutex") {
    return [lock = zkrecipes::lock(zk, path, {.id = name})]() mutable {
      return lock.async_acquire_for(time_limit, use_awaitable);
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
    return reads ? lock.async_acquire_read_for(time_limit, use_awaitable)
                 : lock.async_acquire_write_for(time_limit, use_awaitable);
  };
}

class turns final : public player {
 public:
  turns(acquisition how, witness seen_by) : acquire_(std::move(how)), witness_(std::move(seen_by)) {}

  awaitable<std::string> obey(std::string command, std::istream& words) override {
    if (command == "enter") {
      co_await enter();
    } else if (command == "leave") {
      co_await leave();
    } else if (command == "until") {
      std::int64_t hand_offs = 0;
      words >> hand_offs;
      co_await take_turns(hand_offs);
    } else {
      throw std::invalid_argument("no such command: " + command);
    }
    co_return "";
  }

 private:
  awaitable<void> enter() {
    held_ = co_await acquire_();
    co_await witness_.enter();
  }

  awaitable<void> leave() {
    co_await witness_.leave();
    co_await held_.async_release(use_awaitable);
  }

  awaitable<void> take_turns(std::int64_t hand_offs) {
    do {
      co_await enter();
      co_await leave();
    } while (witness_.hand_offs() < hand_offs);
  }

  acquisition acquire_;
  witness witness_;
  zkrecipes::ownership held_;
};

}  // namespace

std::unique_ptr<player> play_turns(const std::string& kind, zkrecipes::session zk, const std::string& path,
                                   const std::string& witnessed, const std::string& name) {
  return std::make_unique<turns>(acquisition_of(kind, zk, path, name), witness(zk, witnessed, name, kind == "read"));
}

}  // namespace interop
