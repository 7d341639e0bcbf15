// What a connection does with the messages of a publisher.
#include <utility>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>

#include "model/rabbit/rabbit_peer.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint16_t no_route = 312;
constexpr std::size_t property_room = 128;

}  // namespace

void rabbit_peer::publish(detail::amqp_delivery what) {
  const auto tag = what.tag;
  const auto queue = all_.find(routing_);
  if (confirms_) unconfirmed_[tag] = routing_;
  if (!queue) {
    give_back(what);
    return confirm(tag, false);
  }
  if (is_rejected(*queue)) return reject(tag);
  queue->submit(shared_from_this(),
                [self = shared_from_this(), to = queue.get(), what = std::move(what), properties = properties_] {
                  to->put(what, properties);
                  self->record_taken(to->name(), what.tag);
                });
}

/// A mandatory message that no queue takes comes back.
void rabbit_peer::give_back(const detail::amqp_delivery& what) {
  amqp_basic_return_t fields{};
  fields.reply_code = no_route;
  fields.reply_text = detail::bytes_of("NO_ROUTE");
  fields.routing_key = detail::bytes_of(routing_);
  say(AMQP_BASIC_RETURN_METHOD, fields, routing_.size() + property_room);
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.message_id = detail::bytes_of(what.id);
  writer_.content(1, properties, property_room + what.id.size(), what.data);
}

/// RabbitMQ 3.10 rejects what a channel sends whose first message came while the queue had no leader: all of it, or
/// the first one only. In one case of three the messages wait for the leader.
bool rabbit_peer::is_rejected(const quorum_queue& into) {
  const auto [found, is_first] = footings_.try_emplace(into.name(), footing::good);
  if (!is_first || into.has_leader()) return found->second == footing::bad;
  const auto how = chance_.below(3);
  if (how == 0) found->second = footing::bad;
  return how < 2;
}

void rabbit_peer::reject(std::uint64_t tag) {
  if (unconfirmed_.erase(tag) == 0) return;
  amqp_basic_nack_t fields{};
  fields.delivery_tag = tag;
  say(AMQP_BASIC_NACK_METHOD, fields);
}

void rabbit_peer::forget_next_confirm(const quorum_queue& which) { forgetting_.insert(which.name()); }

/// The message is in the queue. The publisher is told a little later, now and then much later, and about several at
/// once if it comes so.
void rabbit_peer::record_taken(const std::string& queue, std::uint64_t tag) {
  if (is_over_ || is_channel_closed_ || !unconfirmed_.contains(tag) || forgetting_.erase(queue) > 0) return;
  taken_.insert(tag);
  const span delay = chance_.one_in(40) ? chance_.between(0ms, 4s) : chance_.between(0ms, 6ms);
  all_.clock().after(delay, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->is_over_ && !self->is_channel_closed_) self->send_confirms();
  });
}

/// One for all in front that were taken, and one for each of the others.
void rabbit_peer::send_confirms() {
  std::size_t in_front = 0;
  std::uint64_t last = 0;
  for (auto each = unconfirmed_.begin(); each != unconfirmed_.end() && taken_.contains(each->first); ++each) {
    last = each->first;
    ++in_front;
  }
  if (in_front > 0) confirm(last, in_front > 1);
  std::vector<std::uint64_t> others(taken_.begin(), taken_.end());
  if (chance_.one_in(2)) others = {others.rbegin(), others.rend()};
  for (const auto tag : others) confirm(tag, false);
  flush();
}

void rabbit_peer::confirm(std::uint64_t tag, bool is_multiple) {
  if (!confirms_) return;
  const auto end = unconfirmed_.upper_bound(tag);
  unconfirmed_.erase(is_multiple ? unconfirmed_.begin() : unconfirmed_.find(tag), end);
  taken_.erase(is_multiple ? taken_.begin() : taken_.lower_bound(tag), taken_.upper_bound(tag));
  amqp_basic_ack_t fields{};
  fields.delivery_tag = tag;
  fields.multiple = is_multiple;
  say(AMQP_BASIC_ACK_METHOD, fields);
}

}  // namespace zkrecipes::simulation
