#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include <testcluster/authority.hpp>

#include "backend/endpoint.hpp"
#include "backend/tls/tls_context.hpp"

namespace zkrecipes::test {

/// A server that does nothing by itself, so that it can stop at any byte. OpenSSL works on memory; `take` and `give`
/// carry the bytes between that and the socket. It has one connection at a time.
class manual_server {
 public:
  /// Speaks only this version of TLS, such as TLS1_3_VERSION.
  manual_server(const testcluster::certificate_files& own, int version);
  ~manual_server();
  manual_server(const manual_server&) = delete;
  manual_server& operator=(const manual_server&) = delete;

  backend::endpoint address() const;
  /// Asks each client for a certificate of this authority.
  void require_client(const std::string& authority);
  /// The same, and takes those that have none, too.
  void ask_client(const std::string& authority);
  /// Asks for another hello first, by a HelloRetryRequest of TLS 1.3: it wants a key of a group that clients offer
  /// last.
  void want_another_hello();
  /// Sends records of 512 bytes at most, and tickets that take several of them.
  void use_long_tickets();
  /// Later connections have buffers of about so many bytes on this side.
  void narrow(int bytes);

  /// Takes the next connection, which has to be there or on its way.
  void accept();
  void close();
  /// Ends the connection so that the other side is told of a reset.
  void reset();

  static constexpr std::size_t all = std::string::npos;
  /// From the socket to OpenSSL, as much as has come.
  void take();
  /// OpenSSL gets these bytes, as if the client had sent them.
  void take_instead(std::string_view bytes);
  /// From OpenSSL to the socket, as far as it takes it. The number of bytes that went.
  std::size_t give(std::size_t most = all);
  /// Bytes that OpenSSL has written and that have not gone.
  std::size_t to_give() const noexcept { return outgoing_.size() - gone_; }
  std::size_t given() const noexcept { return given_; }
  /// Whether the other side has ended the connection.
  bool has_seen_end() const noexcept { return has_seen_end_; }

  /// As far as possible. True when it is complete.
  bool shake_hands();
  /// Encrypts. A text of up to 16 KiB is one record.
  void write(std::string_view text);
  /// Puts these bytes behind what OpenSSL has written.
  void write_raw(std::string_view bytes);
  /// All that was taken and is complete, decrypted.
  std::string read();
  /// Changes the key for what is written from now on.
  void update_key(bool ask_for_the_same);
  /// How often the other side has changed its key.
  std::size_t key_updates() const noexcept { return key_updates_; }
  /// Says that nothing more will be written.
  void notify_close();

 private:
  static void on_message(int by_us, int version, int type, const void* bytes, std::size_t size, SSL*, void* self);
  void collect();

  backend::ssl_context_handle context_;
  int listening_;
  int connection_ = -1;
  int buffer_size_ = 0;
  backend::ssl_handle handle_;
  BIO* in_ = nullptr;   // the handle's
  BIO* out_ = nullptr;  // the same
  std::string outgoing_;
  std::size_t gone_ = 0;   // so much of `outgoing_`
  std::size_t given_ = 0;  // in the present connection
  std::size_t key_updates_ = 0;
  bool has_seen_end_ = false;
};

}  // namespace zkrecipes::test
