// A connection to RabbitMQ from its first byte on. The bits of the first byte of the input tell whether the broker
// takes the connection before (1), so that we ask for messages (2), for confirms of three messages (4), and for the
// sizes of queues (8), and whether the input has frames without heads and ends (16). The second tells the size of the
// pieces in which the bytes come.
#include <cstdint>
#include <map>
#include <string>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "fuzz/library/broker_bytes.hpp"
#include "rabbitmq/amqp_client.hpp"
#include "rabbitmq/delivery_limit.hpp"

namespace fuzz::broker_talk_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

enum wishes : unsigned {
  is_welcome = 1,
  wants_messages = 2,
  wants_confirms = 4,
  wants_sizes = 8,
  has_bare_frames = 16
};

/// A client, and what came of the bytes.
class talk {
 public:
  explicit talk(unsigned wishes) {
    if (!(wishes & is_welcome)) return;
    client_.feed(wire::welcome());
    require(client_.is_open(), "a broker that takes a connection is understood");
    if (wishes & wants_messages) consume();
    if (wishes & wants_confirms) publish();
    if (wishes & wants_sizes) look();
  }

  void hear(std::string_view bytes, std::size_t piece) {
    cut(bytes, piece, [this](std::string_view each) {
      client_.feed(each);
      said_ += client_.take_output();
    });
    require(data_ <= bytes.size(), "no more data is told than has come");
    require(client_.is_over() == bool(client_.why()), "an end has a reason");
    require(!client_.is_over() || client_.why().category() == rabbit_category(), "the reason is one of ours");
    require(!client_.is_over() || !client_.is_open(), "what is over is not open");
    require(said_.size() <= 2'048 + bytes.size(), "no more is answered than has come");
  }
  /// Each request is answered once, and nothing is told after the end.
  void finish() {
    const auto told = told_;
    if (client_.is_over()) client_.feed(wire::message(~std::uint64_t{0}, "late", "x") + wire::confirmed(0, true));
    require(told == told_, "nothing is told after the end");
    client_.end(rabbit_errc::unavailable, "lost");
    require(answered_ == asked_, "each request has one answer");
    client_.part();
    said_ += client_.take_output();
  }

  std::string state() const {
    const auto flags = {client_.is_open(), client_.is_over(), client_.wants_pause()};
    std::string all = told_;
    for (const auto each : flags) all += each ? '+' : '-';
    return all + client_.why().message() + '|' + client_.words() + '|' + client_.pause_reason() + '|' +
           std::to_string(client_.heartbeat().count());
  }
  const std::string& said() const { return said_; }
  const std::string& words() const { return client_.words(); }

 private:
  void consume() {
    client_.consume(
        "q", 10, [this](const amqp_delivery& each) { note(each); }, answer());
  }
  void note(const amqp_delivery& each) {
    require(each.tag > last_tag_, "the tags of messages grow");
    last_tag_ = each.tag;
    data_ += each.data.size();
    tell("message " + std::to_string(each.tag) + each.id + '|' + each.key + '|' + each.data + '|' +
         std::to_string(each.timestamp) + '|' + std::to_string(each.first) + (each.is_redelivered ? "again" : ""));
    client_.acknowledge(each.tag, each.tag % 2 == 0);
  }

  void publish() {
    client_.confirm([this](const amqp_confirm& each) { note(each); }, [this](std::uint64_t tag) { on_return(tag); },
                    answer());
    for (const auto* id : {"a", "b", "c"}) unconfirmed_[client_.publish("q", id, "k", "data", 1'700'000'000'123)] = id;
    require(unconfirmed_.size() == 3 && unconfirmed_.contains(3), "messages are numbered");
  }
  void note(const amqp_confirm& each) {
    const auto end = unconfirmed_.upper_bound(each.tag);
    const auto begin = each.is_multiple ? unconfirmed_.begin() : unconfirmed_.lower_bound(each.tag);
    require(each.tag <= 3 && begin != end, "a message is confirmed that was not");
    unconfirmed_.erase(begin, end);
    tell("confirm " + std::to_string(each.tag) + (each.is_taken ? "+" : "-"));
  }
  void on_return(std::uint64_t tag) {
    require(unconfirmed_.contains(tag), "a message comes back that is not confirmed");
    tell("return " + std::to_string(tag));
  }

  void look() {
    client_.declare("q", unreachable_limit, answer());
    client_.look_at("r", answer());
    for (const auto* each : {"s", "t"}) client_.count(each, answer());
    client_.beat();
  }
  amqp_client::answer_handler answer() {
    ++asked_;
    return [this](const amqp_answer& each) {
      ++answered_;
      tell("answer " + each.error.message() + each.words + std::to_string(each.messages) + '/' +
           std::to_string(each.consumers));
    };
  }
  void tell(const std::string& what) { told_ += what + '\n'; }

  amqp_client client_{broker_settings()};
  std::string told_;
  std::string said_;
  std::size_t data_ = 0;
  std::uint64_t last_tag_ = 0;
  std::map<std::uint64_t, std::string> unconfirmed_;  // ids by tags
  int asked_ = 0;
  int answered_ = 0;
};

/// Reads what our client has said, as a broker does.
class listener {
 public:
  explicit listener(std::string_view said) {
    constexpr std::string_view greeting("AMQP\0\0\x09\x01", 8);
    require(said.starts_with(greeting), "a client begins with its version");
    said.remove_prefix(greeting.size());
    std::string all;
    for (const auto& each : wire::frames_in(said)) {
      all += wire::frame(each.type, each.channel, each.payload);
      take(each);
    }
    require(all == said, "a client says frames");
  }

  /// The broker has ended it before it knew that the login is good.
  bool is_login_refused() const { return has_sent_login_ && !has_tuned_ && has_parted_; }

 private:
  void take(const wire::sent_frame& frame) {
    if (frame.method() == AMQP_CONNECTION_TUNE_OK_METHOD) tune(frame.fields());
    require(frame.payload.size() + amqp_frame_excess <= limit_, "a frame has the agreed size");
    const bool is_login = frame.method() == AMQP_CONNECTION_START_OK_METHOD;
    const bool has_password = frame.payload.find(broker_password) != std::string::npos;
    require(is_login == has_password, "the password is in the login, and nowhere else");
    require(!has_sent_login_ || !is_login, "there is one login");
    has_sent_login_ |= is_login;
    has_parted_ |= frame.method() == AMQP_CONNECTION_CLOSE_OK_METHOD || frame.method() == AMQP_CHANNEL_CLOSE_OK_METHOD;
    if (frame.type != AMQP_FRAME_METHOD) return;
    require(memory_.method<void>(frame.method(), frame.fields()), "a method can be read");
  }
  void tune(const std::string& fields) {
    has_tuned_ = true;
    limit_ = number_at(fields, 2, 4);
    const auto heartbeat = number_at(fields, 6, 2);
    require(limit_ >= 4'096 && limit_ <= 131'072, "frames have a good size");
    require(heartbeat >= 1 && heartbeat <= 10, "heartbeats are at least as many as asked for");
  }

  amqp_memory memory_;
  std::size_t limit_ = 4'096;
  bool has_sent_login_ = false;
  bool has_tuned_ = false;
  bool has_parted_ = false;
};

void talk_to_broker(std::string_view input) {
  const unsigned wishes = take_byte(input);
  const auto piece = piece_size(take_byte(input));
  const auto bytes = wishes & has_bare_frames ? frames_of(input) : std::string(input);
  talk whole(wishes);
  talk pieces(wishes);
  whole.hear(bytes, in_one_piece);
  pieces.hear(bytes, piece);
  require(whole.state() == pieces.state(), "bytes in pieces mean the same");
  require(whole.said() == pieces.said(), "bytes in pieces are answered the same");
  whole.finish();
  const listener broker(whole.said());
  require(!broker.is_login_refused() || whole.words() == "user and password were refused",
          "the words that refuse a login are not told");
}

const target known("broker_talk", talk_to_broker);

}  // namespace fuzz::broker_talk_target
