#include <algorithm>
#include <cstdint>
#include <functional>
#include <istream>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <boost/json/object.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/session.hpp>

#include "worker/player.hpp"

namespace interop {

// The witness, outside of all recipes, that records which workers are inside: a node that each worker changes when it
// enters or leaves, under the version that it expects.

/// The Java and the Python worker do exactly the same.
///
/// The node contains `{"writer": NAME or null, "readers": N, "max_readers": N, "last": NAME or null, "hand_offs": N,
/// "turns": {NAME: N}}`. A worker that has to be alone writes once when it enters and once when it leaves, conditional
/// on the version that it saw on entering. Any other change in between is an overlap, and so is another worker inside
/// on entering. Readers may change the node while other readers are inside; a reader that finds a writer is an overlap.
class witness {
 public:
  witness(zkrecipes::session zk, std::string path, std::string name, bool shared);

  /// \throws std::runtime_error "overlap: ..."
  boost::asio::awaitable<void> enter();
  boost::asio::awaitable<void> leave();

  /// The number of turns, up to our own entering, that began after a turn of another worker.
  std::int64_t hand_offs() const noexcept { return hand_offs_; }

 private:
  boost::asio::awaitable<void> enter_alone();
  boost::asio::awaitable<void> leave_alone();
  boost::asio::awaitable<void> count_reader(int change);
  boost::asio::awaitable<std::int32_t> write(boost::json::object record, std::int32_t expected, const char* when);

  zkrecipes::session zk_;
  std::string path_;
  std::string name_;
  bool shared_;
  std::int32_t version_ = 0;  // of the node, for as long as we are alone inside
  std::int64_t hand_offs_ = 0;
};

namespace asio = boost::asio;
namespace json = boost::json;
using asio::awaitable;
using asio::use_awaitable;

namespace {

[[noreturn]] void overlap(const std::string& what) { throw std::runtime_error("overlap: " + what); }

void require_no_writer(const json::object& record) {
  if (record.at("writer").is_string()) overlap(std::string(record.at("writer").as_string()) + " is inside");
}

void record_turn(json::object& record, const std::string& name) {
  const bool handed_on = record.at("last").is_string() && record.at("last").as_string() != name;
  if (handed_on) record["hand_offs"] = record.at("hand_offs").as_int64() + 1;
  record["last"] = name;
  auto& turns = record.at("turns").as_object();
  auto& mine = turns[name];
  mine = mine.is_int64() ? mine.as_int64() + 1 : 1;
}

}  // namespace

witness::witness(zkrecipes::session zk, std::string path, std::string name, bool shared)
    : zk_(std::move(zk)), path_(std::move(path)), name_(std::move(name)), shared_(shared) {}

awaitable<void> witness::enter() { return shared_ ? count_reader(+1) : enter_alone(); }
awaitable<void> witness::leave() { return shared_ ? count_reader(-1) : leave_alone(); }

/// Returns the new version.
awaitable<std::int32_t> witness::write(json::object record, std::int32_t expected, const char* when) {
  const std::string data = json::serialize(record);
  auto written = co_await zk_.async_set(path_, data, expected, asio::as_tuple(use_awaitable));
  const auto& [error, stat] = written;
  if (error == zkrecipes::errc::bad_version) overlap(std::string("while ") + when);
  if (error) throw boost::system::system_error(error, "witness");
  co_return stat.version;
}

awaitable<void> witness::enter_alone() {
  auto node = co_await zk_.async_get(path_, use_awaitable);
  auto record = json::parse(node.data).as_object();
  require_no_writer(record);
  if (record.at("readers").as_int64() != 0) overlap("readers are inside");
  record_turn(record, name_);
  record["writer"] = name_;
  hand_offs_ = record.at("hand_offs").as_int64();
  version_ = co_await write(std::move(record), node.stat.version, "entering");
}

awaitable<void> witness::leave_alone() {
  auto node = co_await zk_.async_get(path_, use_awaitable);
  auto record = json::parse(node.data).as_object();
  record["writer"] = nullptr;
  co_await write(std::move(record), version_, "inside");
}

awaitable<void> witness::count_reader(int change) {
  for (;;) {
    auto node = co_await zk_.async_get(path_, use_awaitable);
    auto record = json::parse(node.data).as_object();
    require_no_writer(record);
    const auto readers = record.at("readers").as_int64() + change;
    record["readers"] = readers;
    record["max_readers"] = std::max(readers, record.at("max_readers").as_int64());
    if (change > 0) record_turn(record, name_);
    const std::string data = json::serialize(record);
    auto written = co_await zk_.async_set(path_, data, node.stat.version, asio::as_tuple(use_awaitable));
    const auto& error = std::get<0>(written);
    if (error == zkrecipes::errc::bad_version) continue;  // another reader was quicker
    if (error) throw boost::system::system_error(error, "witness");
    hand_offs_ = record.at("hand_offs").as_int64();
    co_return;
  }
}

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
