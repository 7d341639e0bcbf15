#include "worker/witness.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

namespace interop {

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

}  // namespace interop
