// A stream to a broker that is the test.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "backend/world.hpp"

namespace zkrecipes::test {

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

}  // namespace zkrecipes::test
