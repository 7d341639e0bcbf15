// A connection to RabbitMQ over a stream on which anything happens at any time. The first byte of the input tells
// whether the connection is there (1: not) and whether the channel is open (2). Each step behind it is a byte, and
// those that it needs.
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "fuzz/library/broker_bytes.hpp"
#include "fuzz/library/still_world.hpp"
#include "rabbitmq/rabbit_connection.hpp"

namespace fuzz::broker_link_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

constexpr std::size_t most_steps = 300;

/// The broker's end of a stream.
struct peer {
  backend::broker_stream::connected connected;
  backend::broker_stream::moved read;
  backend::broker_stream::moved written;
  boost::asio::mutable_buffer room;
  boost::asio::const_buffer writing;
  std::string copy;  // of what is being written
  bool is_closed = false;
};

/// Sees to it that a link keeps what `broker_stream` asks for.
class stream final : public backend::broker_stream {
 public:
  stream(boost::asio::any_io_executor strand, std::shared_ptr<peer> other)
      : strand_(std::move(strand)), peer_(std::move(other)) {}

  void connect(const backend::endpoint&, connected then) override {
    require(!peer_->connected, "a stream connects once");
    peer_->connected = std::move(then);
  }
  void read_some(boost::asio::mutable_buffer to, moved then) override {
    require(!peer_->read && !peer_->is_closed && to.size() > 0, "one read at a time, of an open stream");
    peer_->room = to;
    peer_->read = std::move(then);
  }
  void write(boost::asio::const_buffer all, moved then) override {
    require(!peer_->written && !peer_->is_closed && all.size() > 0, "one write at a time, to an open stream");
    peer_->writing = all;
    peer_->copy.assign(static_cast<const char*>(all.data()), all.size());
    peer_->written = std::move(then);
  }
  void close() override {
    peer_->is_closed = true;
    peer_->connected = nullptr;
    for (auto* each : {&peer_->read, &peer_->written}) {
      if (!*each) continue;
      auto end = [then = std::exchange(*each, nullptr)] { then(boost::asio::error::operation_aborted, 0); };
      boost::asio::post(strand_, std::move(end));
    }
  }

 private:
  boost::asio::any_io_executor strand_;
  std::shared_ptr<peer> peer_;
};

/// A link, and all that can happen to it.
class script {
 public:
  explicit script(unsigned flags) {
    auto over = std::make_unique<stream>(world_.on()->strand, peer_);
    link_ = std::make_shared<rabbit_link>(world_.on(), std::move(over), broker_settings(), [this] { on_change(); });
    link_->connect({"127.0.0.1", 5'672});
    const bool is_refused = flags & 1u;
    std::exchange(peer_->connected, nullptr)(is_refused ? boost::asio::error::connection_refused : error_code());
    if (flags & 2u) come_up();
    check();
  }
  ~script() {
    link_->abandon();
    const auto changes = changes_;
    while (peer_->written) end_write({});
    world_.run_all();
    require(peer_->is_closed, "the stream of a link that was abandoned is closed");
    require(changes == changes_, "nothing is told after a link was abandoned");
    require(link_.use_count() == 1, "nothing holds a link that was abandoned");
  }

  void act(std::string_view& input) {
    switch (take_byte(input) % 12) {
      case 0: say(good_frame(take_byte(input))); break;
      case 1: say(frames_of(take_counted(input))); break;
      case 2: say(take_counted(input)); break;
      case 3: end_write({}); break;
      case 4: end_write(boost::asio::error::broken_pipe); break;
      case 5:
        end_read(take_byte(input) % 2u ? error_code(boost::asio::error::eof) : boost::asio::error::timed_out);
        break;
      case 6: world_.run_next(); break;
      case 7: link_->look_at("q", answer()); break;
      case 8: consume(); break;
      case 9: publish(); break;
      case 10: link_->acknowledge(last_tag_, take_byte(input) % 2u); break;
      default: world_.poll(); break;
    }
    check();
  }

 private:
  static const std::string& good_frame(unsigned which) {
    static const std::array all{wire::start(),
                                wire::tune(4'096, 5),
                                wire::open_ok(),
                                wire::channel_open_ok(),
                                wire::heartbeat(),
                                wire::declare_ok(7, 1),
                                wire::consume_ok(),
                                wire::confirm_ok(),
                                wire::message(1, "m", "tea"),
                                wire::message(2, "n", ""),
                                wire::confirmed(1),
                                wire::confirmed(0, true),
                                wire::rejected(2),
                                wire::returned("p", "data"),
                                wire::channel_close(404, "NOT_FOUND - no queue", 50, 10),
                                wire::connection_close(320, "CONNECTION_FORCED"),
                                wire::method(0, 10, 60, wire::short_text("low on memory")),
                                wire::method(0, 10, 61, ""),
                                wire::method(1, 20, 20, wire::number(0, 1))};
    return all[which % all.size()];
  }

  void come_up() {
    for (unsigned i = 0; i < 4; ++i) {
      end_write({});
      say(good_frame(i));
    }
  }
  void say(std::string_view bytes) {
    cut(bytes, peer_->room.size() + 1, [this](std::string_view each) {
      if (!peer_->read) return;
      std::copy(each.begin(), each.end(), static_cast<char*>(peer_->room.data()));
      std::exchange(peer_->read, nullptr)(error_code(), each.size());
    });
  }
  void end_read(const error_code& why) {
    if (peer_->read) std::exchange(peer_->read, nullptr)(why, 0);
  }
  void end_write(const error_code& why) {
    if (!peer_->written) return;
    const std::string_view now(static_cast<const char*>(peer_->writing.data()), peer_->writing.size());
    require(now == peer_->copy, "what is being written stays as it is");
    std::exchange(peer_->written, nullptr)(why, why ? 0 : now.size());
  }

  void consume() {
    if (std::exchange(has_consumer_, link_->is_up())) return;
    link_->consume(
        "q", 10, [this](const amqp_delivery& each) { last_tag_ = each.tag; }, answer());
  }
  void publish() {
    if (!std::exchange(has_confirms_, link_->is_up()))
      link_->confirm([](const amqp_confirm&) {}, [](std::uint64_t) {}, answer());
    const auto tag = link_->publish("q", "p", "key", "data");
    require(tag > 0 || !link_->is_up(), "a message of a good size can be put");
  }
  rabbit_link::answer_handler answer() {
    ++asked_;
    return [this](const amqp_answer&) { ++answered_; };
  }
  void on_change() {
    ++changes_;
    require(!was_over_, "nothing changes after the end");
  }

  void check() {
    was_over_ = link_->is_over();
    require(was_over_ == bool(link_->why()), "an end has a reason");
    require(!was_over_ || !link_->is_up(), "what is over is not up");
    require(was_over_ || (peer_->read && !peer_->is_closed), "a link listens to its end");
    require(was_over_ || peer_->written || link_->unsent() == 0, "what is to be said is said");
    require(!was_over_ || answered_ == asked_, "a link that ends answers all");
    require(!was_over_ || changes_ > 0, "an end is told");
  }

  still_world world_;
  std::shared_ptr<peer> peer_ = std::make_shared<peer>();
  std::shared_ptr<rabbit_link> link_;
  bool has_consumer_ = false;
  bool has_confirms_ = false;
  bool was_over_ = false;
  std::uint64_t last_tag_ = 0;
  int asked_ = 0;
  int answered_ = 0;
  int changes_ = 0;
};

void connect(std::string_view input) {
  script steps(take_byte(input));
  for (std::size_t i = 0; i < most_steps && !input.empty(); ++i) steps.act(input);
}

const target known("broker_link", connect);

}  // namespace fuzz::broker_link_target
