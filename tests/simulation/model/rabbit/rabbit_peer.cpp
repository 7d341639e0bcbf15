#include "model/rabbit/rabbit_peer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::simulation {

// What a connection does with the messages of a publisher.

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

using side = broker_wire::side;

namespace {

constexpr std::size_t protocol_size = 8;
constexpr std::size_t method_number_size = 4;

}  // namespace

rabbit_peer::rabbit_peer(rabbit_cluster& of, int node, broker_wire_ptr over)
    : all_(of), node_(node), wire_(std::move(over)), chance_(of.dice().draw()) {}

void rabbit_peer::begin() {
  wire_->attach(side::broker, weak_from_this());
  heard_ = spoken_ = all_.clock().now();
}

void rabbit_peer::receive(std::string_view bytes) {
  if (!all_.is_stopped(node_)) heard_ = all_.clock().now();
  input_ += bytes;
  go_on();
}

bool rabbit_peer::is_held() const {
  const bool is_blocked = all_.has_alarm() && published_ > 0;
  const bool is_busy = awaits_consumer_ && consumed_ && !consumed_->is_deleted();
  return is_over_ || held_ || is_blocked || is_busy || all_.is_stopped(node_);
}

void rabbit_peer::go_on() {
  if (is_held()) return;
  if (awaited_ == step::protocol && !take_protocol()) return;
  frames_.add(std::exchange(input_, {}));
  while (!is_held()) {
    detail::amqp_frame frame;
    const auto found = frames_.next(frame);
    if (found == detail::amqp_frame_reader::result::broken) return misbehave(frames_.problem());
    if (found == detail::amqp_frame_reader::result::incomplete) break;
    take(frame);
  }
  flush();
}

void rabbit_peer::wake() {
  if (is_over_ || all_.is_stopped(node_)) return;
  if (held_ && held_->at->is_deleted()) {
    const auto method = std::exchange(held_, {})->method;
    close_channel(AMQP_NOT_FOUND, "no queue", method);
  } else if (held_ && held_->at->has_leader()) {
    const auto then = std::exchange(held_, {})->then;
    then();
  }
  flush();
  go_on();
}

/// The process of a node that stands still sends nothing.
void rabbit_peer::flush() {
  if (is_over_ || writer_.size() == 0 || all_.is_stopped(node_)) return;
  spoken_ = all_.clock().now();
  wire_->send(side::broker, writer_.take());
}

void rabbit_peer::lose(const error_code&) { end(); }

void rabbit_peer::end() {
  if (std::exchange(is_over_, true)) return;
  const auto keep = shared_from_this();
  wire_->close(side::broker);
  leave_queues();
  detach();
}

void rabbit_peer::detach() {
  given_.clear();
  used_.clear();
  held_.reset();
  consumed_.reset();
}

void rabbit_peer::crash(bool is_told) {
  if (is_over_) return;
  if (!is_told) wire_->vanish(side::broker);
  end();
}

/// A connection that is blocked may be silent.
void rabbit_peer::check_heartbeats() {
  if (is_over_) return;
  const auto now = all_.clock().now();
  const bool is_watched = !all_.is_stopped(node_) && !(all_.has_alarm() && published_ > 0);
  if (!is_watched) heard_ = now;
  if (now - heard_ >= 2 * heartbeat_) return end();
  if (now - spoken_ >= heartbeat_ / 2) {
    writer_.heartbeat();
    flush();
  }
  all_.clock().after(heartbeat_ / 4, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_heartbeats();
  });
}

void rabbit_peer::on_alarm() {
  if (awaited_ != step::none || is_over_ || is_told_of_alarm_ == all_.has_alarm()) return;
  is_told_of_alarm_ = all_.has_alarm();
  if (is_told_of_alarm_) {
    amqp_connection_blocked_t fields{};
    fields.reason = detail::bytes_of("low on memory");
    writer_.method(0, AMQP_CONNECTION_BLOCKED_METHOD, &fields, 20);
  } else {
    amqp_connection_unblocked_t fields{};
    writer_.method(0, AMQP_CONNECTION_UNBLOCKED_METHOD, &fields);
  }
  flush();
}

/// A broker that is told of a breach by its client closes the connection; here the run is over.
void rabbit_peer::misbehave(const std::string& how) {
  all_.observer().misbehaved(wire_->client(), how);
  end();
}

bool rabbit_peer::take_protocol() {
  if (input_.size() < protocol_size) return false;
  const bool is_known = input_.substr(0, protocol_size) == std::string_view("AMQP\0\0\x09\x01", protocol_size);
  input_.erase(0, protocol_size);
  if (!is_known) return misbehave("it speaks another protocol"), false;
  greet();
  return true;
}

void rabbit_peer::greet() {
  amqp_connection_start_t fields{};
  fields.version_minor = 9;
  fields.mechanisms = detail::bytes_of("AMQPLAIN PLAIN");
  fields.locales = detail::bytes_of("en_US");
  const auto version = std::to_string(all_.major_version()) + ".0.5";
  amqp_table_entry_t property{};
  property.key = detail::bytes_of("version");
  property.value.kind = AMQP_FIELD_KIND_UTF8;
  property.value.value.bytes = detail::bytes_of(version);
  fields.server_properties = {1, &property};
  writer_.method(0, AMQP_CONNECTION_START_METHOD, &fields, 128);
  awaited_ = step::start;
}

void rabbit_peer::take(const detail::amqp_frame& frame) {
  switch (frame.type) {
    case AMQP_FRAME_HEARTBEAT: return;
    case AMQP_FRAME_METHOD: {
      if (frame.payload.size() < method_number_size) return misbehave("a method has no number");
      const auto number = static_cast<std::uint32_t>(detail::number_at(frame.payload, 0, method_number_size));
      return take_method(number, frame.channel, frame.payload.substr(method_number_size));
    }
    default: break;
  }
  if (is_channel_closed_) return;
  if (!content_.is_open()) return misbehave("a part of a message without it");
  constexpr std::size_t content_head = 12;  // class, weight, size of the data
  if (frame.type == AMQP_FRAME_HEADER && frame.payload.size() > content_head)
    properties_ = frame.payload.substr(content_head);
  const auto problem = content_.take(frame);
  if (problem.error) return misbehave(problem.words);
  if (!content_.is_open()) publish(content_.take_out());
}

void rabbit_peer::take_method(std::uint32_t number, std::uint16_t channel, std::string_view arguments) {
  if (number == AMQP_CONNECTION_CLOSE_METHOD) {
    amqp_connection_close_ok_t answer{};
    writer_.method(0, AMQP_CONNECTION_CLOSE_OK_METHOD, &answer);
    flush();
    return end();
  }
  if (awaited_ != step::none) return shake_hands(number, arguments);
  if (channel != 1) return misbehave("another channel");
  is_channel_closed_ ? take_behind_end(number) : take_of_channel(number, arguments);
}

/// Methods that the client has sent before it knew of the end are not read. It opens only a channel without messages
/// anew, so there is nothing to forget.
void rabbit_peer::take_behind_end(std::uint32_t number) {
  if (number != AMQP_CHANNEL_CLOSE_OK_METHOD) return;
  is_channel_closed_ = false;
  awaited_ = step::channel;
}

void rabbit_peer::shake_hands(std::uint32_t number, std::string_view arguments) {
  if (awaited_ == step::start && number == AMQP_CONNECTION_START_OK_METHOD) {
    constexpr std::uint32_t sizes[] = {131'072, 131'072, 4'096, 8'192};
    constexpr std::uint16_t intervals[] = {60, 10, 3, 0};
    amqp_connection_tune_t fields{};
    fields.channel_max = 2'047;
    fields.frame_max = sizes[chance_.below(4)];
    fields.heartbeat = intervals[chance_.below(4)];
    writer_.method(0, AMQP_CONNECTION_TUNE_METHOD, &fields);
    awaited_ = step::tune;
  } else if (awaited_ == step::tune && number == AMQP_CONNECTION_TUNE_OK_METHOD) {
    const auto* agreed = memory_.method<amqp_connection_tune_ok_t>(number, arguments);
    if (!agreed) return misbehave("the sizes can not be read");
    writer_.limit(agreed->frame_max);
    frames_.limit(agreed->frame_max);
    heartbeat_ = std::chrono::seconds(agreed->heartbeat);
    awaited_ = step::open;
  } else if (awaited_ == step::open && number == AMQP_CONNECTION_OPEN_METHOD) {
    amqp_connection_open_ok_t fields{};
    writer_.method(0, AMQP_CONNECTION_OPEN_OK_METHOD, &fields);
    awaited_ = step::channel;
    if (heartbeat_ > span(0)) check_heartbeats();
  } else if (awaited_ == step::channel && number == AMQP_CHANNEL_OPEN_METHOD) {
    say(AMQP_CHANNEL_OPEN_OK_METHOD, amqp_channel_open_ok_t{});
    awaited_ = step::none;
    on_alarm();
  } else {
    misbehave("the connection begins in another way");
  }
}

void rabbit_peer::take_of_channel(std::uint32_t number, std::string_view arguments) {
  switch (number) {
    case AMQP_QUEUE_DECLARE_METHOD: return declare(arguments);
    case AMQP_BASIC_QOS_METHOD: {
      const auto* window = memory_.method<amqp_basic_qos_t>(number, arguments);
      prefetch_ = window ? window->prefetch_count : 0;
      return say(AMQP_BASIC_QOS_OK_METHOD, amqp_basic_qos_ok_t{});
    }
    case AMQP_BASIC_CONSUME_METHOD: return consume(arguments);
    case AMQP_BASIC_ACK_METHOD: return acknowledge(arguments);
    case AMQP_CONFIRM_SELECT_METHOD:
      confirms_ = true;
      return say(AMQP_CONFIRM_SELECT_OK_METHOD, amqp_confirm_select_ok_t{});
    case AMQP_BASIC_PUBLISH_METHOD: {
      const auto* what = memory_.method<amqp_basic_publish_t>(number, arguments);
      if (!what || !what->mandatory) return misbehave("a message that is not mandatory");
      routing_ = detail::text_of(what->routing_key);
      return content_.begin_delivery(++published_, false);
    }
    default: misbehave("a method that is not expected");
  }
}

/// The channel has gone with this.
void rabbit_peer::close_channel(std::uint16_t code, const std::string& text, std::uint32_t method) {
  amqp_channel_close_t fields{};
  fields.reply_code = code;
  fields.reply_text = detail::bytes_of(text);
  fields.class_id = static_cast<std::uint16_t>(method >> 16);
  fields.method_id = static_cast<std::uint16_t>(method & 0xffff);
  say(AMQP_CHANNEL_CLOSE_METHOD, fields, text.size());
  is_channel_closed_ = true;
  leave_queues();
}

}  // namespace zkrecipes::simulation
