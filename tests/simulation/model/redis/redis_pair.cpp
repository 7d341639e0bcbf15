#include "model/redis/redis_pair.hpp"

#include <algorithm>
#include <utility>

#include "model/redis/redis_peer.hpp"
#include "model/redis/resp.hpp"

namespace zkrecipes::simulation {

using presence = broker_network::presence;

namespace {

constexpr std::uint16_t first_redis_port = 6379;
constexpr const char* redis_address = "10.0.2.1";
constexpr std::uint64_t epoch_ms = 1'700'000'000'000;
constexpr std::uint64_t most_ahead_ms = 3'000;

}  // namespace

redis_pair::redis_pair(clockwork& clock, broker_network& network, std::uint64_t seed, redis_watcher& watcher)
    : clock_(clock), network_(network), chance_(seed, 2'950), store_(seed, watcher) {
  for (int i = 0; i < nodes; ++i) {
    auto& each = members_[static_cast<std::size_t>(i)];
    each = std::make_unique<member>(*this, i);
    network_.listen(address(i), *each);
  }
}

redis_pair::~redis_pair() = default;

backend::endpoint redis_pair::address(int node) {
  return {redis_address, static_cast<std::uint16_t>(first_redis_port + node)};
}

std::string redis_pair::hosts() { return backend::to_string(address(0)) + ',' + backend::to_string(address(1)); }

std::uint64_t redis_pair::now() const { return epoch_ms + static_cast<std::uint64_t>(clock_.now() / 1ms); }

void redis_pair::accept(int node, const broker_wire_ptr& over) {
  std::erase_if(peers_, [](const auto& each) { return !each->is_alive(); });
  peers_.push_back(std::make_shared<redis_peer>(*this, node, over));
  peers_.back()->begin();
}

bool redis_pair::put(const std::string& stream, const std::string& key, const std::string& data) {
  if (!is_up_ || is_stopped_) return false;
  const auto reply = execute(primary_, {"XADD", stream, "*", "key", key, "data", data});
  return !reply.starts_with('-');
}

/// Empty: none.
std::string redis_pair::refusal_of(int node, const redis_command& command) const {
  const bool is_write = redis_store::is_write(command);
  const bool is_replica = !is_primary(node);
  if (is_replica && is_write) return resp::error("READONLY You can't write against a read only replica.");
  if (trouble_ == trouble::loading) return resp::error("LOADING Redis is loading the dataset in memory");
  if (trouble_ == trouble::busy) {
    return resp::error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.");
  }
  const bool needs_memory = is_write && command.front() != "XTRIM";
  if (trouble_ == trouble::out_of_memory && needs_memory) {
    return resp::error("OOM command not allowed when used memory > 'maxmemory'.");
  }
  return {};
}

std::string redis_pair::execute(int node, const redis_command& command) {
  if (auto refusal = refusal_of(node, command); !refusal.empty()) return refusal;
  auto reply = store_.execute(command, now());
  if (redis_store::is_write(command)) look_all();
  return reply;
}

std::string redis_pair::read(int node, const std::string& stream, const std::string& behind, std::size_t most) {
  if (auto refusal = refusal_of(node, {"XREAD"}); !refusal.empty()) return refusal;
  return store_.read(stream, behind, most);
}

bool redis_pair::loses_reply(const redis_command& command) {
  return is_losing_ && redis_store::is_write(command) && std::exchange(is_losing_, false);
}

/// Those that wait in XREAD get what there is. Behind the command that is under way, as in Redis.
void redis_pair::look_all() {
  clock_.after(0ms, [this] {
    for (const auto& each : std::vector(peers_)) each->look();
  });
}

void redis_pair::end_all(int node) {
  for (const auto& each : std::exchange(peers_, {})) {
    if (each->node() == node)
      each->end(!chance_.one_in(4));
    else
      peers_.push_back(each);
  }
}

void redis_pair::fall_behind() {
  if (!copy_) copy_ = store_.data();
}

void redis_pair::crash() {
  if (!std::exchange(is_up_, false)) return;
  is_stopped_ = false;
  trouble_ = trouble::none;
  network_.set(address(primary_), presence::refusing);
  end_all(primary_);
  if (copy_) store_.become(std::move(*std::exchange(copy_, std::nullopt)));
}

void redis_pair::restart() {
  is_up_ = true;
  for (int i = 0; i < nodes; ++i) network_.set(address(i), presence::there);
}

void redis_pair::fail_over() {
  crash();
  primary_ = (primary_ + 1) % nodes;
  is_up_ = true;
  network_.set(address(primary_), presence::there);
  store_.set_clock(static_cast<std::int64_t>(chance_.below(2 * most_ahead_ms)) -
                   static_cast<std::int64_t>(most_ahead_ms));
}

void redis_pair::stop() { is_stopped_ = true; }

void redis_pair::wake() {
  if (!std::exchange(is_stopped_, false)) return;
  for (const auto& each : std::vector(peers_)) each->go_on();
}

void redis_pair::set(trouble what) {
  trouble_ = what;
  if (what != trouble::read_only) return;
  for (const auto& each : std::vector(peers_)) each->unblock();
}

void redis_pair::remove(const std::string& stream) { store_.remove(stream, now()); }

void redis_pair::heal() {
  copy_.reset();
  is_losing_ = false;
  trouble_ = trouble::none;
  restart();
  wake();
}

}  // namespace zkrecipes::simulation
