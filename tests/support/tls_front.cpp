#include "support/tls_front.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <testcluster/authority.hpp>

#include "support/cluster.hpp"
#include "support/secure_servers.hpp"
#include "support/temporary_folder.hpp"

namespace zkrecipes::test {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// A folder with the certificates of all fronts, and of all sessions.
class certificates {
 public:
  certificates() : authority_(folder_.path()), server_(authority_.issue({.name = "server", .hosts = {"127.0.0.1"}})) {
    client_ = authority_.issue({.name = "client"});
  }
  const std::filesystem::path& authority() const { return authority_.certificate(); }
  const testcluster::certificate_files& server() const { return server_; }
  const testcluster::certificate_files& client() const { return client_; }

 private:
  temporary_folder folder_;
  testcluster::authority authority_;
  testcluster::certificate_files server_;
  testcluster::certificate_files client_;
};

const certificates& all_certificates() {
  static const certificates all;
  return all;
}

class front_thread {
 public:
  front_thread() : context_(asio::ssl::context::tls_server) {
    const auto& all = all_certificates();
    context_.use_certificate_chain_file(all.server().certificate.string());
    context_.use_private_key_file(all.server().key.string(), asio::ssl::context::pem);
    context_.load_verify_file(all.authority().string());
    context_.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    const unsigned char here[] = "fronts";
    SSL_CTX_set_session_id_context(context_.native_handle(), here, sizeof here - 1);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~front_thread() {
    io_.stop();
    thread_.join();
  }
  asio::io_context& io() { return io_; }
  asio::ssl::context& context() { return context_; }

 private:
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::ssl::context context_;
  std::thread thread_;
};

front_thread& the_thread() {
  static front_thread one;
  return one;
}

tcp::endpoint endpoint_of(const std::string& address) {
  const auto colon = address.find(':');
  return {asio::ip::make_address(address.substr(0, colon)),
          static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))};
}

/// The two sides of one connection.
struct passage {
  explicit passage(tcp::socket from) : client(std::move(from), the_thread().context()), server(the_thread().io()) {}
  void close() {
    boost::system::error_code ignored;
    client.next_layer().close(ignored);
    server.close(ignored);
  }
  asio::ssl::stream<tcp::socket> client;
  tcp::socket server;
};
using passage_ptr = std::shared_ptr<passage>;

template <class From, class To>
asio::awaitable<void> pass(passage_ptr both, From& from, To& to) {
  std::array<char, 16384> buffer;
  for (;;) {
    auto read = co_await from.async_read_some(asio::buffer(buffer), as_tuple);
    if (std::get<0>(read)) break;
    auto written = co_await asio::async_write(to, asio::buffer(buffer, std::get<1>(read)), as_tuple);
    if (std::get<0>(written)) break;
  }
  both->close();
}

asio::awaitable<void> serve(passage_ptr both, tcp::endpoint target) {
  auto connected = co_await both->server.async_connect(target, as_tuple);
  if (std::get<0>(connected)) co_return both->close();
  boost::system::error_code ignored;
  both->server.set_option(tcp::no_delay(true), ignored);
  both->client.next_layer().set_option(tcp::no_delay(true), ignored);
  auto greeted = co_await both->client.async_handshake(asio::ssl::stream_base::server, as_tuple);
  if (std::get<0>(greeted)) co_return both->close();
  auto& io = the_thread().io();
  asio::co_spawn(io, pass(both, both->client, both->server), asio::detached);
  asio::co_spawn(io, pass(both, both->server, both->client), asio::detached);
}

}  // namespace

struct tls_front::impl {
  explicit impl(tcp::endpoint to)
      : target(to), acceptor(the_thread().io(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

  static asio::awaitable<void> listen(std::shared_ptr<impl> self) {
    for (;;) {
      auto accepted = co_await self->acceptor.async_accept(as_tuple);
      if (std::get<0>(accepted)) co_return;
      asio::co_spawn(the_thread().io(),
                     serve(std::make_shared<passage>(std::move(std::get<1>(accepted))), self->target), asio::detached);
    }
  }

  tcp::endpoint target;
  tcp::acceptor acceptor;
};

bool over_tls() {
  static const bool is_set = std::getenv("ZKRECIPES_TEST_TLS") != nullptr;
  return is_set;
}

/// If the servers speak TLS themselves, the options are for them.
tls_options options_for_fronts() {
  if (secure_servers()) {
    const auto& own = cluster().client_certificate();
    return {.authorities = cluster().authority().certificate().string(),
            .certificate = own.certificate.string(),
            .key = own.key.string()};
  }
  const auto& all = all_certificates();
  return {.authorities = all.authority().string(),
          .certificate = all.client().certificate.string(),
          .key = all.client().key.string()};
}

tls_front::tls_front(const std::string& target) : impl_(std::make_shared<impl>(endpoint_of(target))) {
  address_ = "127.0.0.1:" + std::to_string(impl_->acceptor.local_endpoint().port());
  asio::co_spawn(the_thread().io(), impl::listen(impl_), asio::detached);
}

tls_front::~tls_front() {
  std::promise<void> closed;
  asio::post(the_thread().io(), [this, &closed] {
    impl_->acceptor.close();
    closed.set_value();
  });
  closed.get_future().wait();
}

namespace {

struct shared_fronts {
  shared_fronts() {
    for (const auto& each : proxy_hosts()) {
      all.push_back(std::make_unique<tls_front>(each));
      hosts.push_back(all.back()->address());
    }
  }
  std::vector<std::unique_ptr<tls_front>> all;
  std::vector<std::string> hosts;
};

const shared_fronts& fronts() {
  static const shared_fronts all;
  return all;
}

/// Whether there are fronts.
bool has_fronts() { return over_tls() && !secure_servers(); }

}  // namespace

const std::vector<std::string>& session_hosts() { return has_fronts() ? fronts().hosts : proxy_hosts(); }

std::string behind_front(const std::string& address) {
  if (!has_fronts()) return address;
  for (std::size_t i = 0; i < fronts().hosts.size(); ++i) {
    if (fronts().hosts[i] == address) return proxy_hosts()[i];
  }
  return address;
}

}  // namespace zkrecipes::test
