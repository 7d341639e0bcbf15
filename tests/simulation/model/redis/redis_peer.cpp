#include "model/redis/redis_peer.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include "format/shown_text.hpp"
#include "model/redis/resp.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
