#include "model/redis/redis_pair.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hiredis/hiredis.h>

#include "format/shown_text.hpp"
#include "model/redis/redis_store.hpp"
#include "world/broker_network.hpp"

// The broker's end of a connection: Redis as far as our client speaks with it.

struct redisReader;

namespace zkrecipes::simulation {

/// Commands are done in order; an XREAD that waits holds up those behind it.
class redis_peer final : public wire_end, public std::enable_shared_from_this<redis_peer> {
 public:
  redis_peer(redis_pair& of, int node, broker_wire_ptr over);

  int node() const noexcept { return node_; }
  bool is_alive() const noexcept { return !is_over_; }
  void begin() { wire_->attach(broker_wire::side::broker, weak_from_this()); }

  /// Does what has arrived. A process that stands still does it later, also for clients that have gone meanwhile.
  void go_on();
  /// There may be something to read.
  void look();
  /// The broker has become a replica.
  void unblock();
  /// `is_told`: the connection is closed. Else the machine has gone.
  void end(bool is_told);

 private:
  struct reader_deleter {
    void operator()(redisReader* what) const noexcept;
  };
  struct waiting_read {
    std::string stream;
    std::string behind;
    std::size_t most = 0;
    instant until{0};
  };

  void receive(std::string_view bytes) override;
  void lose(const error_code& why) override;
  void take_commands();
  void execute(const redis_command& command);
  std::string answer(const redis_command& command);
  std::string role() const;
  void read(const redis_command& command);

  redis_pair& of_;
  int node_;
  broker_wire_ptr wire_;
  std::unique_ptr<redisReader, reader_deleter> reader_;
  std::deque<redis_command> commands_;
  std::optional<waiting_read> blocked_;
  bool is_authenticated_ = false;
  bool is_lost_ = false;  // the client has gone
  bool is_over_ = false;
};

using side = broker_wire::side;

void redis_peer::reader_deleter::operator()(redisReader* what) const noexcept { redisReaderFree(what); }

redis_peer::redis_peer(redis_pair& of, int node, broker_wire_ptr over)
    : of_(of), node_(node), wire_(std::move(over)), reader_(redisReaderCreate()) {}

void redis_peer::receive(std::string_view bytes) {
  if (is_over_) return;
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
  take_commands();
  go_on();
}

/// A command has the form of a list of texts, which hiredis parses in replies, too.
void redis_peer::take_commands() {
  for (;;) {
    void* parsed = nullptr;
    const int rc = redisReaderGetReply(reader_.get(), &parsed);
    const std::unique_ptr<void, decltype(&freeReplyObject)> owner(parsed, &freeReplyObject);
    if (rc != REDIS_OK) return end(true);
    if (!parsed) return;
    const auto& list = *static_cast<const redisReply*>(parsed);
    redis_command command;
    for (std::size_t i = 0; list.type == REDIS_REPLY_ARRAY && i < list.elements; ++i) {
      command.emplace_back(list.element[i]->str, list.element[i]->len);
    }
    if (command.empty()) return end(true);
    commands_.push_back(std::move(command));
  }
}

void redis_peer::lose(const error_code&) {
  is_lost_ = true;
  go_on();
}

void redis_peer::go_on() {
  if (of_.is_stopped(node_)) return;
  look();
  while (!is_over_ && !blocked_ && !commands_.empty() && !of_.is_stopped(node_)) {
    const auto command = std::move(commands_.front());
    commands_.pop_front();
    execute(command);
  }
  if (is_lost_ && !of_.is_stopped(node_)) is_over_ = true;
}

void redis_peer::execute(const redis_command& command) {
  if (command.front() == "XREAD" && is_authenticated_) return read(command);
  const auto reply = answer(command);
  if (of_.loses_reply(command)) return wire_->cut(broker_wire::notice::both);
  wire_->send(side::broker, reply);
}

std::string redis_peer::answer(const redis_command& command) {
  const auto& name = command.front();
  if (name == "AUTH") {
    is_authenticated_ = command.back() == redis_pair::password;
    return is_authenticated_ ? resp::status("OK") : resp::error("WRONGPASS invalid username-password pair");
  }
  if (!is_authenticated_) return resp::error("NOAUTH Authentication required.");
  if (name == "SELECT") return resp::status("OK");
  if (name == "ROLE") return role();
  return of_.execute(node_, command);
}

std::string redis_peer::role() const {
  if (of_.is_primary(node_)) return resp::list({resp::text("master"), resp::number(0), resp::list({})});
  return resp::list(
      {resp::text("slave"), resp::text("10.0.2.1"), resp::number(6379), resp::text("connected"), resp::number(0)});
}

/// XREAD COUNT most BLOCK ms STREAMS stream behind
void redis_peer::read(const redis_command& command) {
  if (command.size() != 8 || command[1] != "COUNT" || command[3] != "BLOCK" || command[5] != "STREAMS") {
    return wire_->send(side::broker, resp::error("ERR syntax error"));
  }
  waiting_read what{command[6], command[7], detail::parse_whole<std::size_t>(command[2]).value_or(1)};
  const auto time_limit = std::chrono::milliseconds(detail::parse_whole<std::int64_t>(command[4]).value_or(0));
  what.until = of_.clock().now() + time_limit;
  blocked_ = std::move(what);
  look();
  if (!blocked_) return;
  of_.clock().after(time_limit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->go_on();
  });
}

void redis_peer::look() {
  if (!blocked_ || is_over_ || of_.is_stopped(node_)) return;
  auto reply = of_.read(node_, blocked_->stream, blocked_->behind, blocked_->most);
  if (reply.empty() && of_.clock().now() >= blocked_->until) reply = resp::nothing();
  if (reply.empty()) return;
  blocked_.reset();
  wire_->send(side::broker, reply);
  of_.clock().after(span(0), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->go_on();
  });
}

void redis_peer::unblock() {
  if (!blocked_ || is_over_ || of_.is_stopped(node_)) return;
  blocked_.reset();
  wire_->send(side::broker, resp::error("UNBLOCKED force unblock from blocking operation, instance state changed"));
  go_on();
}

void redis_peer::end(bool is_told) {
  if (std::exchange(is_over_, true)) return;
  blocked_.reset();
  is_told ? wire_->close(side::broker) : wire_->vanish(side::broker);
}

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
