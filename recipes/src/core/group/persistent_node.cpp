#include <stdexcept>
#include <utility>

#include <zkrecipes/persistent_node.hpp>

#include "group/kept_node.hpp"
#include "session/make.hpp"
#include "session/request_size.hpp"

namespace zkrecipes {

using namespace detail;

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

persistent_node::persistent_node(session over, std::string path, std::string data, persistent_node_options options)
    : session_(over.get_core()) {
  check(path, data, options);
  node_ = std::make_shared<kept_node>(require_session(over), std::move(path), std::move(data), std::move(options));
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

persistent_node::executor_type persistent_node::get_executor() const noexcept {
  return node_ ? node_->get_scheduler()->base : executor_type();
}

const std::string& persistent_node::path() const noexcept { return node_ ? node_->path() : no_path(); }

const persistent_node_options& persistent_node::options() const noexcept {
  static const persistent_node_options defaults;
  return node_ ? node_->options() : defaults;
}

void persistent_node::start_started(handler_for<void(error_code)> h, node_ptr node) {
  launch(std::move(h), std::move(node), &kept_node::wait_started);
}

void persistent_node::start_set_data(handler_for<void(error_code)> h, node_ptr node, std::string data) {
  launch(std::move(h), std::move(node), &kept_node::set_data, std::move(data));
}

void persistent_node::start_status_change(handler_for<void(error_code, persistent_node_status)> h, node_ptr node,
                                          std::uint64_t seen) {
  launch_endless(std::move(h), std::move(node), &kept_node::wait_status_change, seen);
}

void persistent_node::start_close(handler_for<void(error_code)> h, node_ptr node) {
  launch(std::move(h), std::move(node), &kept_node::close);
}

}  // namespace zkrecipes
