// What a connection does with queues.
#include <utility>
#include <vector>

#include "model/rabbit/rabbit_peer.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint16_t peer_channel = 1;
constexpr span longest_without_leader = 5s;
constexpr std::size_t header_room = 128;
constexpr auto peer_consumer = "ctag";

/// Null: it is not there.
const amqp_field_value_t* argument_in(const amqp_table_t& table, std::string_view name) {
  for (int i = 0; i < table.num_entries; ++i) {
    if (detail::text_of(table.entries[i].key) == name) return &table.entries[i].value;
  }
  return nullptr;
}

/// As RabbitMQ writes it, if it is not a number against another one.
std::string limit_text(const detail::delivery_limit& limit) {
  return limit ? "the value '" + std::to_string(*limit) + "' of type 'long'" : "none";
}

/// The properties of a message as the broker gives it out: those that it came with, and how often it has come back.
class given_properties {
 public:
  given_properties(detail::amqp_memory& memory, const rabbit_message& of) {
    const auto* came = of.properties.empty() ? nullptr : memory.properties(of.properties);
    came ? take(*came) : make(of.what);
    if (of.returns > 0) add("x-delivery-count", AMQP_FIELD_KIND_I64).i64 = of.returns;
    all_._flags |= AMQP_BASIC_HEADERS_FLAG;
    all_.headers = {static_cast<int>(headers_.size()), headers_.data()};
  }
  amqp_basic_properties_t& all() { return all_; }

 private:
  void take(const amqp_basic_properties_t& came) {
    all_ = came;
    if ((came._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return;
    headers_.assign(came.headers.entries, came.headers.entries + came.headers.num_entries);
  }
  void make(const detail::amqp_delivery& what) {
    add("key", AMQP_FIELD_KIND_UTF8).bytes = detail::bytes_of(what.key);
    if (what.id.empty()) return;
    all_._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
    all_.message_id = detail::bytes_of(what.id);
  }
  decltype(amqp_field_value_t::value)& add(std::string_view name, char kind) {
    auto& entry = headers_.emplace_back();
    entry.key = detail::bytes_of(name);
    entry.value.kind = static_cast<std::uint8_t>(kind);
    return entry.value.value;
  }

  amqp_basic_properties_t all_{};
  std::vector<amqp_table_entry_t> headers_;
};

}  // namespace

/// `then` is called when the queue has a leader, and not at all if the channel ends before.
void rabbit_peer::with_leader(quorum_queue_ptr of, std::uint32_t method, std::function<void()> then) {
  if (of->has_leader()) return then();
  held_ = held_request{std::move(of), method, std::move(then)};
  all_.clock().after(longest_without_leader, [weak = weak_from_this(), which = ++requests_held_] {
    const auto self = weak.lock();
    if (!self || self->is_over_ || !self->held_ || self->requests_held_ != which) return;
    const auto late = std::exchange(self->held_, {});
    self->close_channel(AMQP_NOT_FOUND,
                        "failed to perform operation on queue '" + late->at->name() + "' in vhost '/' due to timeout",
                        late->method);
    self->flush();
    self->go_on();
  });
}

void rabbit_peer::declare(std::string_view arguments) {
  const auto* asked = memory_.method<amqp_queue_declare_t>(AMQP_QUEUE_DECLARE_METHOD, arguments);
  if (!asked) return misbehave("a declaration can not be read");
  const std::string name(detail::text_of(asked->queue));
  const bool is_right = asked->durable && argument_in(asked->arguments, "x-queue-type") &&
                        argument_in(asked->arguments, "x-single-active-consumer");
  if (!asked->passive && !is_right) return misbehave("a queue of another kind");
  detail::delivery_limit limit;
  if (const auto* own = argument_in(asked->arguments, "x-delivery-limit")) limit = own->value.i64;
  auto queue = all_.find(name);
  if (queue && !asked->passive && queue->limit() != limit)
    return close_channel(AMQP_PRECONDITION_FAILED,
                         "PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue '" + name +
                             "' in vhost '/': received " + limit_text(limit) + " but current is " +
                             limit_text(queue->limit()),
                         AMQP_QUEUE_DECLARE_METHOD);
  if (!queue && asked->passive)
    return close_channel(AMQP_NOT_FOUND, "NOT_FOUND - no queue '" + name + "' in vhost '/'", AMQP_QUEUE_DECLARE_METHOD);
  if (!queue) {
    queue = all_.declare(name, limit);
    all_.made(name, wire_->client(), wire_->is_open(broker_wire::side::client));
  }
  with_leader(queue, AMQP_QUEUE_DECLARE_METHOD, [this, at = queue.get()] { answer_declaration(*at); });
}

void rabbit_peer::answer_declaration(const quorum_queue& of) {
  amqp_queue_declare_ok_t fields{};
  fields.queue = detail::bytes_of(of.name());
  fields.message_count = static_cast<std::uint32_t>(of.ready());
  fields.consumer_count = static_cast<std::uint32_t>(of.consumers());
  say(AMQP_QUEUE_DECLARE_OK_METHOD, fields, of.name().size());
}

void rabbit_peer::consume(std::string_view arguments) {
  const auto* asked = memory_.method<amqp_basic_consume_t>(AMQP_BASIC_CONSUME_METHOD, arguments);
  if (!asked || asked->no_ack || prefetch_ == 0) return misbehave("a consumer without a limit");
  const std::string name(detail::text_of(asked->queue));
  const auto queue = all_.find(name);
  if (!queue)
    return close_channel(AMQP_NOT_FOUND, "NOT_FOUND - no queue '" + name + "' in vhost '/'", AMQP_BASIC_CONSUME_METHOD);
  consumed_ = queue;
  used_.insert(queue);
  with_leader(queue, AMQP_BASIC_CONSUME_METHOD, [this, at = queue.get()] {
    awaits_consumer_ = true;
    at->submit(shared_from_this(), [self = shared_from_this(), at] {
      self->awaits_consumer_ = false;
      if (self->is_over_ || self->is_channel_closed_) return;
      amqp_basic_consume_ok_t fields{};
      fields.consumer_tag = detail::bytes_of(peer_consumer);
      self->say(AMQP_BASIC_CONSUME_OK_METHOD, fields, header_room);
      self->flush();
      at->consume(self, self->prefetch_);
      self->go_on();
    });
  });
}

void rabbit_peer::deliver(std::uint64_t checkout, const rabbit_message_ptr& what) {
  if (is_over_ || is_channel_closed_ || !consumed_) return;
  const auto tag = ++delivered_;
  given_.emplace(tag, given{consumed_, checkout, what});
  amqp_basic_deliver_t fields{};
  fields.consumer_tag = detail::bytes_of(peer_consumer);
  fields.delivery_tag = tag;
  fields.redelivered = what->returns > 0;
  fields.routing_key = detail::bytes_of(consumed_->name());
  say(AMQP_BASIC_DELIVER_METHOD, fields, consumed_->name().size() + header_room);
  given_properties properties(memory_, *what);
  const auto texts = header_room + what->properties.size() + what->what.key.size() + what->what.id.size();
  writer_.content(peer_channel, properties.all(), texts, what->what.data);
  flush();
}

void rabbit_peer::acknowledge(std::string_view arguments) {
  const auto* asked = memory_.method<amqp_basic_ack_t>(AMQP_BASIC_ACK_METHOD, arguments);
  if (!asked || !consumed_ || !given_.contains(asked->delivery_tag))
    return misbehave("an acknowledgement of what this connection was not given");
  const auto end = given_.upper_bound(asked->delivery_tag);
  std::vector<std::uint64_t> checkouts;
  for (auto each = asked->multiple ? given_.begin() : given_.find(asked->delivery_tag); each != end;) {
    all_.observer().acknowledged(consumed_->name(), *each->second.what);
    checkouts.push_back(each->second.checkout);
    each = given_.erase(each);
  }
  consumed_->submit(shared_from_this(),
                    [self = shared_from_this(), at = consumed_.get(), checkouts] { at->settle(self, checkouts); });
}

/// The consumer is cancelled. What was put and is not confirmed is confirmed, as RabbitMQ does.
void rabbit_peer::lose_queue(const quorum_queue& which) {
  if (is_over_ || is_channel_closed_) return;
  if (consumed_.get() == &which) {
    amqp_basic_cancel_t fields{};
    fields.consumer_tag = detail::bytes_of(peer_consumer);
    say(AMQP_BASIC_CANCEL_METHOD, fields, header_room);
  }
  std::vector<std::uint64_t> gone;
  for (const auto& [tag, queue] : unconfirmed_) {
    if (queue == which.name()) gone.push_back(tag);
  }
  for (const auto tag : gone) confirm(tag, false);
  flush();
}

/// What the consumer has goes back behind the acknowledgements that are on their way.
void rabbit_peer::leave_queues() {
  const auto self = shared_from_this();
  for (const auto& each : std::exchange(used_, {})) {
    each->submit(nullptr, [self, at = each.get()] { at->leave(self); });
  }
  held_.reset();
}

}  // namespace zkrecipes::simulation
