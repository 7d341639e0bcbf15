// What RabbitMQ sends, as it is read: a whole talk, words, messages and frames.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "external/delivery_memory.hpp"
#include "format/shown_text.hpp"
#include "fuzz/library/broker_bytes.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/amqp_client.hpp"
#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"
#include "rabbitmq/queue_progress.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "session/paths.hpp"
#include "source/log_source.hpp"

namespace fuzz::broker_talk_target {

// A connection to RabbitMQ from its first byte on. The bits of the first byte of the input tell whether the broker
// takes the connection before (1), so that we ask for messages (2), for confirms of three messages (4), and for the
// sizes of queues (8), and whether the input has frames without heads and ends (16). The second tells the size of the
// pieces in which the bytes come.

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
         std::to_string(each.timestamp) + '|' + std::to_string(each.first) + '|' + each.problem +
         (each.is_redelivered ? "again" : ""));
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

namespace fuzz::broker_words_target {

// Words of RabbitMQ that refuse a request, and names of producers and messages. The first byte of the input chooses the
// request, two tell the code, and the rest is the text.

using namespace zkrecipes;
using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

/// A request for the size of a queue is answered with what the refusal of this request means.
void refuse(std::uint32_t method, std::uint16_t code, const std::string& text) {
  const auto why = error_of_refusal({code, method, text});
  require(bool(why) && why.category() == rabbit_category(), "a refusal has one of our reasons");
  require(why != rabbit_errc::unexpected_reply, "a refusal is a good answer");
  amqp_client client(broker_settings());
  client.feed(wire::welcome());
  std::optional<amqp_answer> answer;
  client.look_at("q", [&answer](const amqp_answer& each) { answer = each; });
  client.feed(wire::channel_close(code, text, static_cast<std::uint16_t>(method >> 16),
                                  static_cast<std::uint16_t>(method & 0xffff)));
  require(client.why() == why && client.words() == shown_text(text),
          "a connection ends for the reason that the broker tells");
  const auto expected = method == AMQP_QUEUE_DECLARE_METHOD ? why : make_error_code(rabbit_errc::unavailable);
  require(answer && answer->error == expected, "the request that is refused is answered with the reason");
}

void name_producer(const std::string& name) {
  try {
    require_producer_name(name);
  } catch (const std::invalid_argument&) {
    return;
  }
  require(path_problem(join("/producers", name)).empty(), "the name of a producer is that of a node");
  const numbered_id largest{name, ~std::uint64_t{0}, ~std::uint64_t{0}};
  const auto id = to_string(largest);
  require(id.size() <= most_short_text, "an id fits into a message");
  require(parse_numbered_id(id) == largest, "an id with the name of a producer reads the same");
}

void read_letter(std::string_view item) {
  const auto shard = shard_of_letter(item, &is_queue_message);
  require(!shard || item.starts_with(shard_name(*shard) + '/'), "an item begins with its shard");
}

void name_message(std::string_view text) {
  amqp_delivery what;
  what.key = text.substr(0, text.size() / 2);
  what.data = text.substr(text.size() / 2);
  const auto name = unnamed_message(what).name(1);
  require(name == unnamed_message(what).name(1), "the name of a message stays");
  require(name != unnamed_message(what).name(2), "copies have names of their own");
  require(name.starts_with('_') && !parse_numbered_id(name), "the name is not that of a message with a number");
  what.data += 'x';
  require(name != unnamed_message(what).name(1), "other data has another name");
}

void read_words(std::string_view input) {
  constexpr std::array<std::uint32_t, 4> methods{0, AMQP_QUEUE_DECLARE_METHOD, AMQP_BASIC_PUBLISH_METHOD,
                                                 AMQP_BASIC_CONSUME_METHOD};
  const auto method = methods[take_byte(input) % methods.size()];
  const unsigned code = take_byte(input) * 256u;
  const std::string text(input.substr(std::min<std::size_t>(input.size(), 1)));
  refuse(method, static_cast<std::uint16_t>(code + take_byte(input)), text.substr(0, most_short_text));
  name_producer(text);
  read_letter(text);
  name_message(text);
}

const target known("broker_words", read_words);

}  // namespace fuzz::broker_words_target

namespace fuzz::broker_messages_target {

// A message of RabbitMQ. The first byte of the input tells the size of the frames in which its data comes; the second,
// by its bits, whether it is one of ours that comes back, whether more data is announced than comes, and whether frames
// are small. The third has the size of the properties, which stand in front of the data.

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
  require(!problem.error, "a message is taken whatever its properties are");
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

namespace fuzz::broker_frames_target {

// The frames of RabbitMQ, and the tables in them. The first byte of the input tells the size of the pieces in which the
// bytes come, the second how large a frame may be, and whether the rest has frames without heads and ends.

using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

constexpr int most_levels = 16;

/// What a reader makes of bytes.
class heard_frames {
 public:
  heard_frames(std::string_view bytes, std::size_t piece, std::size_t limit) : limit_(limit) {
    reader_.limit(limit);
    cut(bytes, piece, [this](std::string_view each) { hear(each); });
  }
  friend bool operator==(const heard_frames& a, const heard_frames& b) {
    return a.frames_ == b.frames_ && a.is_broken_ == b.is_broken_ && a.reader_.problem() == b.reader_.problem();
  }

  void require_same(std::string_view bytes) const {
    std::string all;
    for (const auto& each : frames_) all += each;
    require(bytes.starts_with(all), "frames are the bytes that have come, in order");
    require(is_broken_ == !reader_.problem().empty(), "bytes that are no frames have a reason");
    const auto left = bytes.size() - all.size();
    require(is_broken_ || left < limit_ || left < amqp_frame_head, "no more than a frame is waited for");
  }

 private:
  void hear(std::string_view bytes) {
    if (is_broken_) return;
    reader_.add(bytes);
    amqp_frame frame;
    auto found = reader_.next(frame);
    for (; found == amqp_frame_reader::result::found; found = reader_.next(frame)) {
      frames_.push_back(wire::frame(frame.type, frame.channel, std::string(frame.payload)));
      require(frames_.back().size() <= limit_, "a frame is within the limit");
    }
    is_broken_ = found == amqp_frame_reader::result::broken;
  }

  std::size_t limit_;
  amqp_frame_reader reader_;
  std::vector<std::string> frames_;
  bool is_broken_ = false;
};

/// A table that rabbitmq-c has decoded, with its memory.
class decoded_table {
 public:
  explicit decoded_table(std::string_view bytes) {
    init_amqp_pool(&pool_, 4'096);
    is_good_ = amqp_decode_table(bytes_of(bytes), &pool_, &table_, &size_) == AMQP_STATUS_OK;
  }
  ~decoded_table() { empty_amqp_pool(&pool_); }
  decoded_table(const decoded_table&) = delete;
  decoded_table& operator=(const decoded_table&) = delete;

  bool is_good() const { return is_good_; }
  std::size_t size() const { return size_; }
  int levels() const { return levels_of(table_); }
  /// Empty if it does not fit.
  std::string encoded(std::size_t room) {
    std::string bytes(room, '\0');
    std::size_t size = 0;
    const bool is_made = amqp_encode_table({room, bytes.data()}, &table_, &size) == AMQP_STATUS_OK;
    bytes.resize(is_made ? size : 0);
    return bytes;
  }

 private:
  static int levels_of(const amqp_table_t& table) {
    int most = 0;
    for (int i = 0; i < table.num_entries; ++i) most = std::max(most, levels_of(table.entries[i].value));
    return most + 1;
  }
  static int levels_of(const amqp_field_value_t& value) {
    if (value.kind == AMQP_FIELD_KIND_TABLE) return levels_of(value.value.table);
    if (value.kind != AMQP_FIELD_KIND_ARRAY) return 0;
    int most = 0;
    for (int i = 0; i < value.value.array.num_entries; ++i)
      most = std::max(most, levels_of(value.value.array.entries[i]));
    return most + 1;
  }

  amqp_pool_t pool_{};
  amqp_table_t table_{};
  std::size_t size_ = 0;
  bool is_good_ = false;
};

/// rabbitmq-c also decodes tables that reach behind the end of those around them. What it would write itself is good.
void read_table(std::string_view bytes) {
  const bool is_accepted = begins_with_table(bytes);
  decoded_table table(bytes);
  require(table.is_good() || !is_accepted, "rabbitmq-c reads each table that was found good");
  if (!table.is_good()) return;
  const auto text = table.encoded(bytes.size());
  const bool is_deep = table.levels() > most_levels;
  if (is_accepted) {
    require(!is_deep, "a good table is not deep");
    require(table.size() == 4 + number_at(bytes, 0, 4), "a good table ends where its length tells");
    require(text.size() == table.size() && begins_with_table(text), "a good table is written as a good one");
  } else {
    require(is_deep || !bytes.starts_with(text), "a table as it is written is good");
  }
}

void read_frames(std::string_view input) {
  const auto piece = piece_size(take_byte(input));
  const unsigned flags = take_byte(input);
  read_table(input);
  const auto limit = std::size_t{16} << flags % 8;
  const auto bytes = flags & 8u ? frames_of(input) : std::string(input);
  const heard_frames whole(bytes, in_one_piece, limit);
  whole.require_same(bytes);
  require(whole == heard_frames(bytes, piece, limit), "bytes in pieces are the same frames");
}

const target known("broker_frames", read_frames);

}  // namespace fuzz::broker_frames_target
