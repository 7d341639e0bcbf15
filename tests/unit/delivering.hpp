// A coordinator that leads, a queue, and a consumer whose calls end when the test says so, in the fake world.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "ensemble/hold_point.hpp"
#include "session/paths.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// Calls of `process` wait until they are let go. The effect of a message is its data in "/result".
class held_consumer final : public queue_consumer {
 public:
  held_consumer(session over, queue_consumer_options options)
      : queue_consumer(queue(over, "/q"), std::move(options)), executor_(over.get_executor()) {}

  career_traits traits() const override { return {.stall_limit = stall_limit}; }
  asio::awaitable<message_outcome> process(term, const message& item) override {
    begun.push_back(item.data);
    attempts.push_back(item.attempts);
    if (!is_held && is_away && is_away(item)) throw std::runtime_error("the database is away");
    if (!is_held && at_once) co_return at_once(item);
    if (!is_held) co_return transaction().set("/result", item.data);
    const auto mine = std::make_shared<call>(executor_);
    auto data = item.data;
    calls[data] = mine;
    if (is_deaf) co_await mine->hold.pass_in_the_end();
    if (!is_deaf) co_await mine->hold.pass();
    if (mine->ends_with) co_return *mine->ends_with;
    co_return transaction().set("/result", data);
  }

  asio::awaitable<void> hand_over(term, term_end reason) override {
    ends.push_back(reason);
    co_return;
  }

  /// The last call for this message ends.
  void let_go(const std::string& data, std::optional<message_outcome> with = {}) {
    calls.at(data)->ends_with = std::move(with);
    calls.at(data)->hold.open();
  }

  struct call {
    explicit call(asio::any_io_executor on) : hold(std::move(on)) {}
    hold_point hold;
    std::optional<message_outcome> ends_with;
  };
  std::map<std::string, std::shared_ptr<call>> calls;  // the last one of each message
  std::vector<std::string> begun;
  std::vector<std::int32_t> attempts;  // of each that was begun
  std::vector<term_end> ends;
  bool is_held = true;
  std::function<bool(const message&)> is_away;             ///< Calls that are not held throw.
  std::function<message_outcome(const message&)> at_once;  ///< What calls that are not held return.
  bool is_deaf = false;                                    ///< Calls do not end when they are cancelled.
  std::chrono::milliseconds stall_limit{0};

 private:
  asio::any_io_executor executor_;
};

/// One server with a few nodes, which answers everything.
class delivering : public fake_session {
 public:
  explicit delivering(session_options with = usual()) : fake_session(std::move(with)) {
    for (const auto* each : {"/e", "/q", "/result"}) nodes_[each];
    connect();
  }
  ~delivering() {
    if (!coordinator) return;
    coordinator->stop();
    for (const auto& [data, each] : consumer->calls) each->hold.open();
    serve_all();
  }

  void consume(queue_consumer_options options, std::chrono::milliseconds stall_limit = {}) {
    consumer = std::make_unique<held_consumer>(zk, std::move(options));
    consumer->stall_limit = stall_limit;
    coordinator = std::make_unique<consumer_coordinator>(zk, "/e", consumer_coordinator_options{.id = "me"});
    running = std::make_unique<recorder<>>(record<>());
    coordinator->async_run(*consumer, running->token());
    serve_all();
  }
  /// Puts messages with this data.
  void put(const std::vector<std::string>& data) {
    for (const auto& each : data) {
      auto number = std::to_string(++last_number_);
      names[each] = "qn-" + std::string(10 - number.size(), '0') + number;
      nodes_["/q/" + names[each]] = {each, {.ctime = put_at}};
    }
    fire(backend::change::children, "/q");
    serve_all();
  }
  void let_go(const std::string& data, std::optional<message_outcome> with = {}) {
    consumer->let_go(data, std::move(with));
    serve_all();
  }
  void pass(std::chrono::milliseconds time) {
    advance(time);
    serve_all();
  }
  void serve_all() {
    settle();
    while (!last().pending.empty()) serve();
  }

  /// The data of the messages that are in the queue.
  strings left() const {
    strings all;
    for (const auto& [path, node] : nodes_) {
      if (path.starts_with("/q/qn-") && path.find('/', 3) == path.npos) all.push_back(node.data);
    }
    return all;
  }
  /// The paths of the dead letters.
  strings letters() const {
    strings all;
    for (const auto& [path, node] : nodes_) {
      if (path.starts_with("/q/_dead/")) all.push_back(path);
    }
    return all;
  }
  bool has(const std::string& path) const { return nodes_.contains(path); }
  std::string record_of_term() const { return nodes_.at("/e").data; }
  void write_record(std::string data) {
    nodes_["/e"].data = std::move(data);
    ++nodes_["/e"].stat.version;
  }
  std::string data_of(const std::string& path) const { return nodes_.at(path).data; }
  void write(const std::string& path, std::string data) {
    nodes_[path].data = std::move(data);
    ++nodes_[path].stat.version;
  }
  void remove_node(const std::string& path) { nodes_.erase(path); }

  std::unique_ptr<held_consumer> consumer;
  std::unique_ptr<consumer_coordinator> coordinator;
  std::unique_ptr<recorder<>> running;
  std::map<std::string, std::string> names;               // of messages, by their data
  std::vector<strings> commits;                           // what was removed from the queue, by transaction
  std::vector<std::string> results;                       // what was written there
  std::int64_t put_at = 0;                                // of messages, in milliseconds since 1970
  std::function<error_code(const operation&)> refusal;    // of an operation of a transaction
  std::function<void(const backend::request&)> on_serve;  // before the request is done

 private:
  struct entry {
    std::string data;
    node_stat stat{};
  };

  void serve() {
    const auto asked = last().pending.front().first;
    if (on_serve) on_serve(asked);
    backend::reply reply;
    const auto found = nodes_.find(asked.path);
    using backend::opcode;
    if (asked.op == opcode::create) {
      reply.path = asked.path + "0000000007";
      nodes_[reply.path] = {asked.data, {}};
      nodes_[reply.path].stat.ephemeral_owner = 0x77;
      nodes_[reply.path].stat.czxid = ++zxid_;
      reply.stat = nodes_[reply.path].stat;
    } else if (asked.op == opcode::multi) {
      commit(asked.operations, reply);
    } else if (asked.op == opcode::remove && found != nodes_.end()) {
      nodes_.erase(found);
    } else if (asked.op != opcode::sync && found == nodes_.end()) {
      reply.error = errc::no_node;
    } else if (asked.op == opcode::children) {
      reply.children = children_of(asked.path);
    } else if (asked.op != opcode::sync) {
      reply.data = found->second.data;
      reply.stat = found->second.stat;
    }
    answer(std::move(reply));
  }

  strings children_of(const std::string& folder) const {
    strings all;
    for (const auto& [path, node] : nodes_) {
      if (path != folder && detail::parent_of(path) == folder) all.push_back(path.substr(folder.size() + 1));
    }
    return all;
  }

  error_code judge(const operation& what) const {
    if (auto why = refusal ? refusal(what) : error_code()) return why;
    const auto found = nodes_.find(what.path);
    const bool is_there = what.mode == create_mode::persistent && found != nodes_.end();
    if (what.type == operation::kind::create) return is_there ? make_error_code(errc::node_exists) : error_code();
    if (found == nodes_.end()) return errc::no_node;
    const bool fits = what.version == any_version || what.version == found->second.stat.version;
    return fits ? error_code() : make_error_code(errc::bad_version);
  }

  void commit(const std::vector<operation>& all, backend::reply& reply) {
    const auto before = nodes_;
    strings removed;
    strings written;
    reply.results.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((reply.error = judge(all[i]))) {
        for (auto& each : reply.results) each.error = errc::rolled_back;
        reply.results[i].error = reply.error;
        nodes_ = before;
        return;
      }
      const auto& what = all[i];
      if (what.type == operation::kind::remove && what.path.starts_with("/q/qn-") && has(what.path)) {
        if (what.path.find('/', 3) == what.path.npos) removed.push_back(nodes_[what.path].data);
      }
      if (what.type == operation::kind::set && what.path == "/result") written.push_back(what.data);
      execute(what, reply.results[i]);
    }
    if (!removed.empty()) commits.push_back(std::move(removed));
    results.insert(results.end(), written.begin(), written.end());
  }

  void execute(const operation& what, operation_result& result) {
    if (what.type == operation::kind::remove) {
      nodes_.erase(what.path);
      const auto above = nodes_.find(detail::parent_of(what.path));
      if (above != nodes_.end()) ++above->second.stat.cversion;
    }
    if (what.type == operation::kind::check || what.type == operation::kind::remove) return;
    const bool is_sequential = what.mode == create_mode::persistent_sequential;
    result.path = what.path + (is_sequential ? std::to_string(1'000'000'000 + ++last_number_) : "");
    auto& node = nodes_[result.path];
    node.data = what.data;
    if (what.type == operation::kind::set) ++node.stat.version;
    node.stat.mzxid = ++zxid_;
    result.stat = node.stat;
    if (what.type != operation::kind::create) return;
    const auto above = nodes_.find(detail::parent_of(result.path));
    if (above != nodes_.end()) ++above->second.stat.cversion;
  }

  std::map<std::string, entry, std::less<>> nodes_;
  std::int64_t zxid_ = 0;
  std::int64_t last_number_ = 0;
};

#define CHECK_LIST(list, ...) BOOST_TEST((list) == (strings{__VA_ARGS__}), boost::test_tools::per_element())

// A consumer that suppresses the repeats of producers, on a server that the test makes.

inline constexpr const char* marks_path = "/q/_repeats";

/// "a3" is the number 3 of the producer "a"; what begins with "-" is not numbered.
inline std::optional<message_origin> origin_in(const message& item) {
  if (item.data.starts_with('-')) return std::nullopt;
  const auto digits = item.data.find_first_of("0123456789");
  return message_origin{item.data.substr(0, digits), std::stoull(item.data.substr(digits))};
}

inline queue_consumer_options repeats_in_order(std::size_t window = 8) {
  queue_consumer_options options;
  options.window = window;
  options.retry = {.first = 10ms, .longest = 10ms, .jitter = 0, .attempts = 2};
  options.repeats = message_repeats{.origin = &origin_in};
  return options;
}

inline queue_consumer_options repeats_by_producer() {
  auto options = repeats_in_order();
  options.order = message_order::by_key;
  options.parallel = 4;
  return options;
}

class idle_consumer final : public queue_consumer {
 public:
  idle_consumer(const queue_base& from, queue_consumer_options options) : queue_consumer(from, std::move(options)) {}
  asio::awaitable<message_outcome> process(term, const message&) override { co_return message_outcome::done(); }
};

/// A consumer that suppresses repeats.
struct repeating : delivering {
  void consume_freely(queue_consumer_options options) {
    consume(std::move(options));
    consumer->is_held = false;
  }
  /// One by one, because sets of one path that travel together are merged.
  void put_each(const strings& data) {
    for (const auto& each : data) put({each});
  }
  void change_term() {
    const auto before = coordinator->status().epoch;
    coordinator->resign();
    serve_all();
    BOOST_TEST_REQUIRE(coordinator->status().epoch == before + 1);
  }
  void check_status(std::uint64_t done, std::uint64_t repeated, std::uint64_t parked = 0) const {
    const auto status = consumer->status();
    BOOST_TEST(status.done == done);
    BOOST_TEST(status.repeated == repeated);
    BOOST_TEST(status.parked == parked);
  }
  static std::string record(const std::string& producers) {
    return R"({"zkrecipes":"producer_marks","producers":[)" + producers + "]}";
  }
  template <class Queue>
  std::string problem_of(const queue_consumer_options& options) const {
    try {
      idle_consumer made(Queue(zk, "/q"), options);
      return "";
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
  }
};

}  // namespace zkrecipes::test
