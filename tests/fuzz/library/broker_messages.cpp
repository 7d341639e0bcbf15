// A message of RabbitMQ. The first byte of the input tells the size of the frames in which its data comes; the second,
// by its bits, whether it is one of ours that comes back, whether more data is announced than comes, and whether frames
// are small. The third has the size of the properties, which stand in front of the data.
#include <cstdint>
#include <optional>
#include <string>

#include <amqp.h>
#include <amqp_framing.h>

#include "fuzz/library/broker_bytes.hpp"
#include "rabbitmq/amqp_client.hpp"
#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"
#include "rabbitmq/rabbit_core.hpp"

namespace fuzz::broker_messages_target {

using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

struct sent_message {
  bool is_return = false;
  std::uint64_t announced = 0;
  std::string_view properties{};
  std::string_view data{};
};

std::optional<amqp_delivery> read_message(const sent_message& sent, std::size_t piece) {
  amqp_content content("key");
  sent.is_return ? content.begin_return() : content.begin_delivery(7, false);
  const auto head = wire::number(60, 2) + wire::number(0, 2) + wire::number(sent.announced, 8);
  auto problem = content.take({AMQP_FRAME_HEADER, 1, head + std::string(sent.properties)});
  require(problem.error || has_good_headers(sent.properties), "properties that are not good are refused");
  if (problem.error) return std::nullopt;
  require(content.is_open() == (sent.announced > 0), "a message without data needs no more");
  cut(sent.data, piece, [&](std::string_view each) {
    if (!problem.error) problem = content.take({AMQP_FRAME_BODY, 1, each});
  });
  require(bool(problem.error) == (sent.data.size() > sent.announced), "no more data is taken than was announced");
  if (problem.error) return std::nullopt;
  require(content.is_open() == (sent.data.size() < sent.announced), "a message ends with its data");
  if (content.is_open()) return std::nullopt;
  return content.take_out();
}

bool are_same(const amqp_delivery& a, const amqp_delivery& b) {
  return a.id == b.id && a.key == b.key && a.data == b.data && a.timestamp == b.timestamp && a.first == b.first;
}

/// The frames of a message as our client puts it, without the first one. Empty: it can not.
std::string put_by_us(const amqp_delivery& what, std::uint32_t frame_max) {
  amqp_client client(broker_settings());
  client.feed(wire::welcome(frame_max));
  client.take_output();
  const auto tag = client.publish("q", what.id, what.key, what.data, what.timestamp, what.first);
  const auto frames = wire::frames_in(client.take_output());
  require(tag > 0 || frames.empty(), "a message that is not put is not sent");
  std::string rest;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    rest += wire::frame(frames[i].type, frames[i].channel, frames[i].payload);
    require(frames[i].payload.size() + amqp_frame_excess <= frame_max, "a frame has the agreed size");
  }
  return rest;
}

/// What was read can be put, and is read the same.
void put_again(const amqp_delivery& what, std::uint32_t frame_max) {
  const auto frames = put_by_us(what, frame_max);
  require(!frames.empty() || what.key.size() > longest_queue_key, "a message with a key of a good length can be put");
  if (frames.empty()) return;
  amqp_client client(broker_settings());
  client.feed(wire::welcome(frame_max));
  std::optional<amqp_delivery> read;
  client.consume("q", 10, [&read](amqp_delivery each) { read = std::move(each); }, {});
  client.feed(wire::consume_ok() + wire::deliver(1) + frames);
  require(read && are_same(*read, what), "a message that was put is read the same");
}

void read_messages(std::string_view input) {
  const auto piece = piece_size(take_byte(input));
  const unsigned flags = take_byte(input);
  const auto properties = take_counted(input);
  sent_message sent{(flags & 1u) != 0, 0, properties, input};
  sent.announced = sent.data.size() + flags / 2 % 2 - flags / 8 % 2;
  const auto whole = read_message(sent, in_one_piece);
  const auto cut = read_message(sent, piece);
  require(whole.has_value() == cut.has_value(), "data in pieces is taken like all of it");
  if (!whole) return;
  require(are_same(*whole, *cut), "data in pieces makes the same message");
  require(whole->data == (sent.is_return ? "" : sent.data), "the data is that of the message");
  require(whole->timestamp >= 0, "a time is not before 1970");
  put_again(*whole, flags & 4u ? 4'096 : 131'072);
}

const target known("broker_messages", read_messages);

}  // namespace fuzz::broker_messages_target
