#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <testcluster/proxy.hpp>

#include "connection.hpp"
#include "frame_filter.hpp"
#include "proxy_link.hpp"

namespace testcluster {

namespace asio = boost::asio;
using boost::system::error_code;
using detail::tcp;

namespace {

std::string text_of(std::chrono::microseconds delay) {
  using namespace std::chrono_literals;
  if (delay % 1ms != 0us) return std::to_string(delay.count()) + " us";
  return std::to_string(delay / 1ms) + " ms";
}

std::chrono::microseconds checked(std::chrono::microseconds delay) {
  using namespace std::chrono_literals;
  if (delay < 0ms || delay > 60s) throw std::invalid_argument("proxy_options::delay must be 0 to 60 s");
  return delay;
}

const proxy_options& checked(const proxy_options& options) {
  checked(options.delay);
  if (!options.callback.empty() && options.protocol != proxy_protocol::opaque)
    throw std::invalid_argument("proxy_options::callback needs protocol = opaque");
  return options;
}

/// An address to listen on: the one given, or one leased.
class own_address {
 public:
  explicit own_address(const std::string& wanted) {
    if (wanted.empty()) leased_.emplace();
    error_code bad;
    address_ = asio::ip::make_address_v4(leased_ ? leased_->text() : wanted, bad);
    if (bad) throw std::invalid_argument("proxy_options::listen: '" + wanted + "' is not an address such as 127.0.0.1");
  }
  const asio::ip::address_v4& get() const { return address_; }

 private:
  std::optional<detail::loopback_address> leased_;
  asio::ip::address_v4 address_;
};

}  // namespace

struct proxy::impl {
  impl(const std::string& target, const proxy_options& options);
  ~impl();

  void open(std::uint16_t port);
  asio::awaitable<void> accept();
  std::vector<std::shared_ptr<detail::proxy_link>> alive();
  void freeze(bool frozen, way which);
  void refuse(bool refusing);
  void heal();
  void drop(detail::drop_rules::what lost, std::int32_t op_code, int k);
  void require_protocol() const;

  /// Runs `function` on the proxy's thread; returns its result or throws its exception.
  template <class Function>
  auto on_thread(Function function) {
    return asio::post(io, asio::use_future(std::move(function))).get();
  }

  tcp::endpoint server;
  detail::proxy_state state;
  own_address own;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  tcp::acceptor acceptor{io};
  detail::change changed{io};
  std::vector<std::weak_ptr<detail::proxy_link>> links;
  std::string address;
  std::thread thread;
};

proxy::impl::impl(const std::string& target, const proxy_options& options)
    : server(detail::parse_endpoint(target)), state{checked(options)}, own(options.listen) {
  open(0);
  acceptor.listen();
  address = detail::to_string(acceptor.local_endpoint());
  asio::co_spawn(io, accept(), asio::detached);
  thread = std::thread([this] { io.run(); });
}

proxy::impl::~impl() {
  io.stop();
  thread.join();
}

// Binds the port but does not listen yet: connections are refused, and no other program can take the port.
void proxy::impl::open(std::uint16_t port) {
  acceptor.open(tcp::v4());
  detail::close_on_exec(acceptor.native_handle());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  acceptor.bind({own.get(), port});
}

asio::awaitable<void> proxy::impl::accept() {
  while (true) {
    if ((state.frozen_up && state.frozen_down) || state.refusing) {
      co_await changed.wait();
      continue;
    }
    error_code failed;
    auto client = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) continue;  // connections are refused from now on
    if (failed) {  // no descriptors are left, for example: trying again without a pause would not mend that
      asio::steady_timer pause(io, std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    detail::close_on_exec(client.native_handle());
    const auto link = std::make_shared<detail::proxy_link>(std::move(client), io, state);
    std::erase_if(links, [](const auto& each) { return each.expired(); });
    links.push_back(link);
    asio::co_spawn(io, detail::proxy_link::run(link, server), asio::detached);
  }
}

std::vector<std::shared_ptr<detail::proxy_link>> proxy::impl::alive() {
  std::vector<std::shared_ptr<detail::proxy_link>> found;
  for (const auto& each : links) {
    auto link = each.lock();
    if (link && !link->closed()) found.push_back(std::move(link));
  }
  return found;
}

proxy::proxy(const std::string& target, const proxy_options& options)
    : impl_(std::make_unique<impl>(target, options)) {}

proxy::~proxy() = default;

const std::string& proxy::address() const { return impl_->address; }

void proxy::set_delay(std::chrono::microseconds delay) {
  impl_->on_thread([this, delay = checked(delay)] { impl_->state.delay = delay; });
}

void proxy::cut() {
  impl_->on_thread([this] {
    for (const auto& link : impl_->alive()) link->close();
  });
}

void proxy::half_open(side closed) {
  impl_->on_thread([this, closed] {
    for (const auto& link : impl_->alive()) link->half_open(closed);
  });
}

void proxy::set_bandwidth(std::uint64_t bytes_per_second) {
  constexpr std::uint64_t most = 1'000'000'000'000;
  if (bytes_per_second > most) throw std::invalid_argument("set_bandwidth: at most 1 TB in a second");
  impl_->on_thread([=, this] { impl_->state.bandwidth = bytes_per_second; });
}

void proxy::blackhole(way lost) {
  impl_->on_thread([this, lost] {
    impl_->state.swallow_up |= lost != way::to_client;
    impl_->state.swallow_down |= lost != way::to_server;
  });
}

void proxy::impl::freeze(bool frozen, way which) {
  if (which != way::to_client) state.frozen_up = frozen;
  if (which != way::to_server) state.frozen_down = frozen;
  error_code ignored;
  acceptor.cancel(ignored);
  changed.notify();
  for (const auto& link : alive()) link->freeze_changed();
}

void proxy::freeze(bool frozen, way which) {
  impl_->on_thread([=, this] { impl_->freeze(frozen, which); });
}

void proxy::impl::refuse(bool refusing) {
  if (refusing == state.refusing) return;
  state.refusing = refusing;
  if (refusing) {
    const auto port = acceptor.local_endpoint().port();
    acceptor.close();
    open(port);
  } else {
    acceptor.listen();
  }
  changed.notify();
}

void proxy::refuse(bool refusing) {
  impl_->on_thread([this, refusing] { impl_->refuse(refusing); });
}

void proxy::impl::drop(detail::drop_rules::what lost, std::int32_t op_code, int k) {
  if (k < 1) throw std::invalid_argument("drop_reply, drop_request: k must be at least 1");
  require_protocol();
  state.rules.add(lost, op_code, k);
}

void proxy::impl::require_protocol() const {
  if (state.options.protocol == proxy_protocol::opaque)
    throw error("this proxy does not know the protocol, so it can not lose one request; use cut or blackhole");
}

void proxy::drop_reply(std::int32_t op_code, int k) {
  impl_->on_thread([=, this] { impl_->drop(detail::drop_rules::what::reply, op_code, k); });
}

void proxy::drop_request(std::int32_t op_code, int k) {
  impl_->on_thread([=, this] { impl_->drop(detail::drop_rules::what::request, op_code, k); });
}

void proxy::drop_requests(std::int32_t op_code, std::string text) {
  impl_->on_thread([&] {
    impl_->require_protocol();
    impl_->state.rules.add_each(detail::drop_rules::what::request, op_code, std::move(text));
  });
}

void proxy::impl::heal() {
  state.delay = state.options.delay;
  state.bandwidth = 0;
  state.swallow_up = state.swallow_down = false;
  state.rules.clear();
  for (const auto& link : alive()) {
    if (link->broken()) link->close();
  }
  refuse(false);
  freeze(false, way::both);
}

void proxy::heal() {
  impl_->on_thread([this] { impl_->heal(); });
}

std::vector<std::string> proxy::faults() const {
  return impl_->on_thread([this] {
    const auto& now = impl_->state;
    auto on = now.rules.describe();
    if (now.delay.count() > 0) on.push_back("delay " + text_of(now.delay));
    if (now.bandwidth > 0) on.push_back("bandwidth " + std::to_string(now.bandwidth) + " bytes/s");
    if (now.frozen_up && now.frozen_down) {
      on.push_back("freeze");
    } else if (now.frozen_up || now.frozen_down) {
      on.push_back(now.frozen_up ? "freeze to-server" : "freeze to-client");
    }
    if (now.refusing) on.push_back("refuse");
    if (now.swallow_up) on.push_back("blackhole to-server");
    if (now.swallow_down) on.push_back("blackhole to-client");
    const auto open = impl_->alive();
    if (std::any_of(open.begin(), open.end(), [](const auto& each) { return each->half(); })) on.push_back("half-open");
    return on;
  });
}

std::size_t proxy::drops() const {
  return impl_->on_thread([this] { return impl_->state.rules.drops(); });
}

std::size_t proxy::lost_bytes() const {
  return impl_->on_thread([this] { return impl_->state.lost_bytes; });
}

std::size_t proxy::connections() const {
  return impl_->on_thread([this] { return impl_->alive().size(); });
}

}  // namespace testcluster
