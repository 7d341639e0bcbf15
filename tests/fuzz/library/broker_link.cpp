// What happens at a connection to RabbitMQ.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "backend/world.hpp"
#include "external/delivery_memory.hpp"
#include "fuzz/library/broker_bytes.hpp"
#include "fuzz/target.hpp"
#include "rabbitmq/queue_progress.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "session/condition.hpp"

namespace fuzz::queue_deliveries_target {

// What RabbitMQ delivers, in any order and as often as it likes. The first byte of the input tells how many messages
// may be out at a time. Each byte behind it is one step; its lower three bits tell which.

using namespace zkrecipes::detail;

constexpr std::size_t most_steps = 1'000;

/// A message that is here: its name, and whether it has an id.
struct here {
  std::string name;
  bool is_named = false;
};

/// Does with deliveries what a reader of a queue does. The memory is stored with each settlement.
class consumer {
 public:
  explicit consumer(std::size_t prefetch) : progress_(prefetch), stored_(serialize(delivery_memory())) { reopen(); }

  void act(unsigned step) {
    const auto which = step / 8;
    switch (step % 8) {
      case 0:
      case 1: return take(delivery(which));
      case 2: return hand_out();
      case 3: return settle(which);
      case 4: return fail(which);
      case 5: return acknowledge();
      case 6: return lose();
      default: return reopen();
    }
  }

 private:
  amqp_delivery delivery(unsigned which) {
    constexpr const char* ids[] = {"",          "foreign",   "zkr:p:1:1", "zkr:p:1:2",
                                   "zkr:p:1:5", "zkr:p:2:1", "zkr:q:1:5", "_1-1"};
    amqp_delivery made;
    made.tag = ++last_tag_;
    made.id = ids[which % 8];
    made.is_redelivered = which & 8u;
    made.first = which & 16u ? 3 : 0;
    return made;
  }
  bool is_ready(const std::string& name) const {
    return std::ranges::any_of(ready_, [&name](const here& each) { return each.name == name; });
  }
  bool is_here(const std::string& name) const { return is_ready(name) || in_hand_.contains(name); }

  void take(const amqp_delivery& what) {
    const bool was_here = is_here(what.id);
    const auto name = progress_.take(what);
    const bool is_settled = !name && !was_here;
    unacknowledged_.emplace(what.tag, is_settled ? std::string() : name.value_or(what.id));
    if (name) {
      require(!is_here(*name), "a message that is here is not handed out again");
      require(what.id.empty() || !progress_.memory().knows(*name), "a message that is settled does not come again");
      ready_.push_back({*name, !what.id.empty()});
    } else {
      require(was_here || progress_.memory().knows(what.id), "a message that is dropped is here, or is settled");
    }
    if (progress_.is_ambiguous() || progress_.is_far_behind()) reopen();
  }
  void hand_out() {
    if (ready_.empty()) return;
    const auto first = std::move(ready_.front());
    ready_.pop_front();
    progress_.hand_out(first.name, first.is_named);
    in_hand_.emplace(first.name, first.is_named);
  }

  void settle(unsigned which) {
    if (in_hand_.empty()) return;
    const auto [name, is_named] = *std::next(in_hand_.begin(), static_cast<long>(which % in_hand_.size()));
    auto next = progress_.memory();
    progress_.apply(next, name);
    require(next.knows(name) == is_named, "a message with an id that is settled is known");
    require(next.failed(name).count == 0, "a message that is settled has no failed attempts");
    store(next);
    progress_.settle(name);
    for (auto& [tag, each] : unacknowledged_)
      if (each == name) each.clear();
    in_hand_.erase(name);
  }
  void fail(unsigned which) {
    if (in_hand_.empty()) return;
    const auto name = std::next(in_hand_.begin(), static_cast<long>(which % in_hand_.size()))->first;
    auto next = progress_.memory();
    const auto before = next.failed(name).count;
    next.fail(name, 1'700);
    require(next.failed(name).count == before + 1, "an attempt is counted");
    store(next);
    progress_.fail(name, 1'700);
  }
  void store(const delivery_memory& memory) {
    stored_ = serialize(memory);
    const auto again = parse_delivery_memory(stored_);
    require(again && serialize(*again) == stored_, "a memory reads the same");
  }

  void acknowledge() {
    for (const auto& each : progress_.take_acknowledgements()) {
      const auto found = unacknowledged_.find(each.tag);
      require(found != unacknowledged_.end(), "a delivery is acknowledged once");
      const auto begin = each.is_multiple ? unacknowledged_.begin() : found;
      for (auto at = begin; at != std::next(found); ++at)
        require(at->second.empty(), "what is not settled is not acknowledged");
      unacknowledged_.erase(begin, std::next(found));
    }
  }
  /// Messages without an id can not be known again when they come by another connection.
  void lose() {
    progress_.lose();
    forget_connection();
    if (progress_.has_unnamed()) reopen();
  }
  /// Another process.
  void reopen() {
    auto read = parse_delivery_memory(stored_);
    require(read.has_value(), "a memory can be read");
    progress_.open(std::move(*read));
    forget_connection();
    in_hand_.clear();
  }
  void forget_connection() {
    ready_.clear();
    unacknowledged_.clear();
    last_tag_ = 0;
  }

  queue_progress progress_;
  std::string stored_;
  std::uint64_t last_tag_ = 0;
  std::deque<here> ready_;
  std::map<std::string, bool> in_hand_;                  // by name; whether it has an id
  std::map<std::uint64_t, std::string> unacknowledged_;  // by tag: the name while it is not settled
};

void deliver(std::string_view input) {
  consumer reader(1 + take_byte(input) % 8u);
  for (const auto each : input.substr(0, most_steps)) reader.act(static_cast<unsigned char>(each));
}

const target known("queue_deliveries", deliver);

}  // namespace fuzz::queue_deliveries_target

namespace fuzz {

/// A world for what needs timers and no session.
/// Its time stands still but for the steps from a timer to the next.
class still_world {
 public:
  still_world() {
    scheduler_->base = scheduler_->strand = io_.get_executor();
    scheduler_->world = std::make_unique<clock>(timers_);
  }

  const zkrecipes::detail::scheduler_ptr& on() const { return scheduler_; }
  void poll() {
    io_.restart();
    io_.poll();
  }
  /// Goes on to the timer that is due first. False: there is none.
  bool run_next() {
    poll();
    return timers_.run_next();
  }
  /// Until there are no more timers.
  void run_all() {
    for (int i = 0; run_next(); ++i) require(i < 1'000, "timers have an end");
    poll();
  }

 private:
  using time = zkrecipes::lease_clock::time_point;
  using timer_id = zkrecipes::backend::timer_id;

  class timers {
   public:
    timer_id add(time when, std::function<void()> what) {
      all_.emplace(std::pair(std::max(when, now_), ++last_), std::move(what));
      return last_;
    }
    void remove(timer_id which) {
      std::erase_if(all_, [which](const auto& each) { return each.first.second == which; });
    }
    bool run_next() {
      if (all_.empty()) return false;
      const auto first = all_.extract(all_.begin());
      now_ = first.key().first;
      first.mapped()();
      return true;
    }
    time now() const { return now_; }

   private:
    time now_{std::chrono::hours(1)};
    timer_id last_ = 0;
    std::map<std::pair<time, timer_id>, std::function<void()>> all_;
  };

  class clock final : public zkrecipes::backend::world {
   public:
    explicit clock(timers& of) : timers_(of) {}

    time now() override { return timers_.now(); }
    std::chrono::system_clock::time_point wall_clock() override {
      return std::chrono::system_clock::time_point(std::chrono::hours(480'000));
    }
    std::uint64_t random() override { return 7; }
    timer_id call_at(time when, std::function<void()> what) override { return timers_.add(when, std::move(what)); }
    void cancel(timer_id id) override { timers_.remove(id); }
    void resolve(std::vector<zkrecipes::backend::endpoint>, zkrecipes::backend::resolve_handler) override {}
    std::unique_ptr<zkrecipes::backend::link> connect(zkrecipes::backend::link_options,
                                                      zkrecipes::backend::link_listener&) override {
      return nullptr;
    }

   private:
    timers& timers_;
  };

  boost::asio::io_context io_;
  timers timers_;
  zkrecipes::detail::scheduler_ptr scheduler_ = std::make_shared<zkrecipes::detail::scheduler>();
};

}  // namespace fuzz

namespace fuzz::broker_link_target {

// A connection to RabbitMQ over a stream on which anything happens at any time. The first byte of the input tells
// whether the connection is there (1: not) and whether the channel is open (2). Each step behind it is a byte, and
// those that it needs.

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
