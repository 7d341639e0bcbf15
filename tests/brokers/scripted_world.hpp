// A world whose brokers, and whose lookups of their names, are the test.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "backend/world.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

/// A stream to a broker that is the test.
/// The broker's end. Nothing happens by itself.
struct scripted_peer {
  /// The connection is there, or fails.
  void connect(const error_code& error = {}) { std::exchange(connected, nullptr)(error); }
  /// Sends these bytes, as far as they are read.
  void say(std::string_view bytes) {
    while (!bytes.empty() && read) {
      const auto size = std::min(bytes.size(), room.size());
      std::memcpy(room.data(), bytes.data(), size);
      bytes.remove_prefix(size);
      std::exchange(read, nullptr)(error_code(), size);
    }
  }
  /// Ends the connection.
  void leave() { std::exchange(read, nullptr)(boost::asio::error::eof, 0); }
  /// The oldest write is complete.
  void take() {
    heard += writing;
    std::exchange(written, nullptr)(error_code(), writing.size());
  }
  /// Takes writes until there is none.
  void take_all() {
    while (written) take();
  }
  std::string hear() { return std::exchange(heard, {}); }

  backend::broker_stream::connected connected;
  backend::broker_stream::moved read;
  backend::broker_stream::moved written;
  boost::asio::mutable_buffer room;
  std::string writing;  ///< Is to be written.
  std::string heard;    ///< Was written.
  bool is_closed = false;
};

class scripted_stream final : public backend::broker_stream {
 public:
  scripted_stream(boost::asio::any_io_executor strand, std::shared_ptr<scripted_peer> peer)
      : strand_(std::move(strand)), peer_(std::move(peer)) {}

  void connect(const backend::endpoint&, connected then) override { peer_->connected = std::move(then); }
  void read_some(boost::asio::mutable_buffer to, moved then) override {
    peer_->room = to;
    peer_->read = std::move(then);
  }
  void write(boost::asio::const_buffer all, moved then) override {
    peer_->writing.assign(static_cast<const char*>(all.data()), all.size());
    peer_->written = std::move(then);
  }
  void close() override {
    peer_->is_closed = true;
    for (auto* each : {&peer_->read, &peer_->written}) {
      if (!*each) continue;
      boost::asio::post(strand_,
                        [then = std::exchange(*each, nullptr)] { then(boost::asio::error::operation_aborted, 0); });
    }
    peer_->connected = nullptr;
  }

 private:
  boost::asio::any_io_executor strand_;
  std::shared_ptr<scripted_peer> peer_;
};

/// What the world shares with its test.
struct scripted_brokers {
  std::vector<std::shared_ptr<scripted_peer>> peers{};  ///< One for each connection, in order.
  bool is_resolver_slow = false;                        ///< Lookups of brokers wait for the test.
  std::vector<backend::resolve_handler> lookups{};      ///< The lookups that wait, or have waited.
};

/// All else is that of another world.
class scripted_world final : public backend::world {
 public:
  scripted_world(boost::asio::any_io_executor strand, std::shared_ptr<scripted_brokers> brokers,
                 std::unique_ptr<backend::world> rest)
      : strand_(std::move(strand)), brokers_(std::move(brokers)), rest_(std::move(rest)) {}

  lease_clock::time_point now() override { return rest_->now(); }
  std::chrono::system_clock::time_point wall_clock() override { return rest_->wall_clock(); }
  std::uint64_t random() override { return rest_->random(); }
  backend::timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    return rest_->call_at(when, std::move(what));
  }
  void cancel(backend::timer_id id) override { rest_->cancel(id); }

  void resolve(std::vector<backend::endpoint> names, backend::resolve_handler handler) override {
    const bool is_of_brokers = names.front().port == 5672;
    if (!is_of_brokers || !brokers_->is_resolver_slow) return rest_->resolve(std::move(names), std::move(handler));
    brokers_->lookups.push_back(std::move(handler));
  }
  std::unique_ptr<backend::link> connect(backend::link_options options, backend::link_listener& listener) override {
    return rest_->connect(std::move(options), listener);
  }
  std::unique_ptr<backend::broker_stream> open_broker(const backend::endpoint&, const std::string&,
                                                      const std::shared_ptr<backend::tls_context>&) override {
    brokers_->peers.push_back(std::make_shared<scripted_peer>());
    return std::make_unique<scripted_stream>(strand_, brokers_->peers.back());
  }

 private:
  boost::asio::any_io_executor strand_;
  std::shared_ptr<scripted_brokers> brokers_;
  std::unique_ptr<backend::world> rest_;
};

/// A session whose brokers these are, in a world whose time the test moves. `told`: the lines of its log.
inline session make_scripted_session(fake_bench& bench, const std::shared_ptr<scripted_brokers>& brokers,
                                     const std::shared_ptr<std::vector<std::string>>& told) {
  session_options options;
  options.hosts = "127.0.0.1:1";
  options.log = [told](const log_event& each) { told->push_back(to_string(each)); };
  auto worlds = [bare = bench.worlds(), brokers](const boost::asio::any_io_executor& strand) {
    return std::make_unique<scripted_world>(strand, brokers, bare(strand));
  };
  return session(detail::make_core(bench.io().get_executor(), std::move(options), worlds));
}

}  // namespace zkrecipes::test
