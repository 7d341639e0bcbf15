#include <stdexcept>
#include <utility>

#include <zkrecipes/persistent_node.hpp>

#include "group/kept_node.hpp"
#include "session/make.hpp"
#include "session/request_size.hpp"

namespace zkrecipes {

using namespace detail;

namespace detail {

// The operations that the users of the node wait for.

awaitable<outcome<>> kept_node::wait_started() {
  for (;;) {
    const auto now = status();
    if (finished_) co_return outcome<>(now.error);
    if (now.present && !now.error && written_ > 0) co_return outcome<>(error_code());
    // `session_expired` is not reported, because the node is made again in the next session.
    if (now.error && now.error != errc::session_expired) co_return outcome<>(now.error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> kept_node::set_data(std::string data) {
  if (is_too_large(data)) co_return outcome<>(errc::too_large);
  data_ = std::move(data);
  const auto mine = ++wanted_;
  const auto tries = tries_;
  changed_.notify();
  for (;;) {
    if (written_ >= mine) co_return outcome<>(error_code());
    const auto error = status().error;
    if (finished_) co_return outcome<>(error);
    if (tries_ > tries && error && error != errc::session_expired) co_return outcome<>(error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<persistent_node_status>> kept_node::wait_status_change(std::uint64_t seen) {
  for (;;) {
    const auto now = status();
    if (now.changes > seen) co_return outcome<persistent_node_status>(error_code(), now);
    if (finished_) co_return outcome<persistent_node_status>(errc::closed, now);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<persistent_node_status>(asio::error::operation_aborted, now);
  }
}

awaitable<outcome<>> kept_node::close() {
  work_.stop();
  while (!finished_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
  co_return outcome<>(end_);
}

awaitable<error_code> wait_standing(kept_node_ptr node, bool patiently) {
  for (;;) {
    const auto before = node->status();
    auto started = co_await node->wait_started();
    auto& [error] = started;
    if (error != errc::busy || !patiently) co_return error;
    auto changed = co_await node->wait_status_change(before.changes);
    error = std::get<0>(changed);
    if (error) co_return error;
  }
}

namespace {

void require_pause(const char* field, std::chrono::milliseconds value, std::chrono::milliseconds low) {
  if (value >= low && value <= std::chrono::hours(1)) return;
  throw std::invalid_argument("persistent_node_options::" + std::string(field) + " is " +
                              std::to_string(value.count()) + " ms; it must be from " + std::to_string(low.count()) +
                              " ms to 1 h");
}

void check(const std::string& path, const std::string& data, const persistent_node_options& options) {
  require_path("persistent_node path", path);
  if (path == "/") throw std::invalid_argument("persistent_node path \"/\": the root always stands");
  if (is_too_large(data)) throw std::invalid_argument("persistent_node data: more than 1 000 000 bytes");
  if (options.mode != create_mode::ephemeral && options.mode != create_mode::persistent) {
    throw std::invalid_argument("persistent_node_options::mode: it must be ephemeral or persistent");
  }
  require_pause("first_pause", options.first_pause, std::chrono::milliseconds(1));
  require_pause("max_pause", options.max_pause, options.first_pause);
}

}  // namespace

}  // namespace detail

persistent_node::persistent_node(session over, std::string path, std::string data, persistent_node_options options)
    : session_(std::move(over)) {
  check(path, data, options);
  node_ = std::make_shared<kept_node>(require_session(session_), std::move(path), std::move(data), std::move(options));
  node_->start();
}

persistent_node::persistent_node(node_ptr node) noexcept : session_(node->session()), node_(std::move(node)) {}
persistent_node::persistent_node() noexcept = default;
persistent_node::persistent_node(persistent_node&&) noexcept = default;

persistent_node& persistent_node::operator=(persistent_node&& other) noexcept {
  if (node_ && node_ != other.node_) node_->close_later();
  session_ = std::move(other.session_);
  node_ = std::move(other.node_);
  return *this;
}

persistent_node::~persistent_node() {
  if (node_) node_->close_later();
}

persistent_node_status persistent_node::status() const {
  if (node_) return node_->status();
  persistent_node_status none;
  none.error = errc::closed;
  return none;
}
const std::string& persistent_node::path() const noexcept { return node_ ? node_->path() : no_path(); }

const persistent_node_options& persistent_node::options() const noexcept {
  static const persistent_node_options defaults;
  return node_ ? node_->options() : defaults;
}

void persistent_node::start_started(handler_for<void(error_code)> h, node_ptr node) {
  launch(*node->get_scheduler(), std::move(h), owning(node, &kept_node::wait_started));
}

void persistent_node::start_set_data(handler_for<void(error_code)> h, node_ptr node, std::string data) {
  launch(*node->get_scheduler(), std::move(h), owning(node, &kept_node::set_data, std::move(data)));
}

void persistent_node::start_status_change(handler_for<void(error_code, persistent_node_status)> h, node_ptr node,
                                          std::uint64_t seen) {
  launch(*node->get_scheduler(), std::move(h), owning(node, &kept_node::wait_status_change, seen));
}

void persistent_node::start_close(handler_for<void(error_code)> h, node_ptr node) {
  launch(*node->get_scheduler(), std::move(h), owning(node, &kept_node::close));
}

}  // namespace zkrecipes
