#include "loopback_address.hpp"
#include "proxy_link.hpp"

#include <testcluster/proxy.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <thread>
#include <vector>

namespace testcluster {

namespace asio = boost::asio;
using boost::system::error_code;
using detail::tcp;

namespace {

std::chrono::milliseconds checked(std::chrono::milliseconds delay) {
  using namespace std::chrono_literals;
  if (delay < 0ms || delay > 60s) throw std::invalid_argument("proxy_options::delay must be 0 to 60 s");
  return delay;
}

}  // namespace

struct proxy::impl {
  impl(const std::string& target, const proxy_options& options);
  ~impl();

  void open(std::uint16_t port);
  asio::awaitable<void> accept();
  std::vector<std::shared_ptr<detail::proxy_link>> alive();

  /// Runs on the proxy's thread; returns or throws what `function` does.
  template <class Function>
  auto on_thread(Function function) {
    return asio::post(io, asio::use_future(std::move(function))).get();
  }

  tcp::endpoint server;
  detail::loopback_address own;
  detail::proxy_state state;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  tcp::acceptor acceptor{io};
  detail::change changed{io};
  std::vector<std::weak_ptr<detail::proxy_link>> links;
  std::string address;
  std::thread thread;
};

proxy::impl::impl(const std::string& target, const proxy_options& options)
    : server(detail::parse_endpoint(target)) {
  state.delay = checked(options.delay);
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

// Bound, but not listening yet: whoever connects is refused, and nobody else can take the port.
void proxy::impl::open(std::uint16_t port) {
  acceptor.open(tcp::v4());
  detail::close_on_exec(acceptor.native_handle());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  acceptor.bind({asio::ip::make_address(own.text()), port});
}

asio::awaitable<void> proxy::impl::accept() {
  while (true) {
    if (state.frozen || state.refusing) {
      co_await changed.wait();
      continue;
    }
    error_code failed;
    auto client = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed) continue;
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

const std::string& proxy::address() const {
  return impl_->address;
}

void proxy::set_delay(std::chrono::milliseconds delay) {
  impl_->on_thread([this, delay = checked(delay)] { impl_->state.delay = delay; });
}

void proxy::cut() {
  impl_->on_thread([this] {
    for (const auto& link : impl_->alive()) link->close();
  });
}

void proxy::freeze(bool frozen) {
  impl_->on_thread([this, frozen] {
    impl_->state.frozen = frozen;
    error_code ignored;
    impl_->acceptor.cancel(ignored);
    impl_->changed.notify();
    for (const auto& link : impl_->alive()) link->freeze_changed();
  });
}

void proxy::refuse(bool refusing) {
  impl_->on_thread([this, refusing] {
    if (refusing == impl_->state.refusing) return;
    impl_->state.refusing = refusing;
    if (refusing) {
      const auto port = impl_->acceptor.local_endpoint().port();
      impl_->acceptor.close();
      impl_->open(port);
    } else {
      impl_->acceptor.listen();
    }
    impl_->changed.notify();
  });
}

void proxy::drop_reply(std::int32_t op_code, int k) {
  if (k < 1) throw std::invalid_argument("drop_reply: k must be at least 1");
  impl_->on_thread([=, this] { impl_->state.rules.add(detail::drop_rules::what::reply, op_code, k); });
}

void proxy::drop_request(std::int32_t op_code, int k) {
  if (k < 1) throw std::invalid_argument("drop_request: k must be at least 1");
  impl_->on_thread([=, this] { impl_->state.rules.add(detail::drop_rules::what::request, op_code, k); });
}

std::size_t proxy::drops() const {
  return impl_->on_thread([this] { return impl_->state.rules.drops(); });
}

std::size_t proxy::connections() const {
  return impl_->on_thread([this] { return impl_->alive().size(); });
}

}  // namespace testcluster
