// `zkadmin watch`.
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <ostream>
#include <tuple>
#include <utility>
#include <variant>

#include <sys/epoll.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/node_walk.hpp"
#include "cluster/nodes.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "report/node_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using zkrecipes::node_children;
using zkrecipes::node_data;
using zkrecipes::session_state;
using zkrecipes::session_status;

using data_result = std::tuple<error_code, node_data>;
using children_result = std::tuple<error_code, node_children>;
using status_result = std::tuple<error_code, session_status>;

/// A descriptor that is readable when nobody reads what is written to `descriptor` any more. Asio does not wait on the
/// output itself, because it would make it non-blocking for all processes that share it.
int watch_for_closing(int descriptor) {
  const int watcher = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event broken{};                                                        // EPOLLERR and EPOLLHUP are always told
  if (watcher >= 0) ::epoll_ctl(watcher, EPOLL_CTL_ADD, descriptor, &broken);  // a file has no reader that could go
  return watcher;
}

/// The command and its task share it, because the task may wait for an answer when the command ends.
class node_watch : public contact {
 public:
  node_watch(surroundings& around, const settings& with, const node_request& asked, std::string path)
      : contact(with, "nodes"), out_(around.out), path_(std::move(path)), format_(asked.format), left_(asked.count) {}

  /// Makes the contact, and reads the node.
  static asio::awaitable<void> begin(std::shared_ptr<node_watch> self) {
    co_await make_contact(self);
    auto& session = *self->session;
    auto reading = co_await session.async_get(self->path_, as_result);
    const error_code error = std::get<0>(reading);
    std::optional<node_data> node;
    if (error != errc::no_node) {
      check_node(error, self->path_);
      node = std::move(std::get<1>(reading));
    }
    self->first_ = self->memory_.begin(node);
    if (node) co_await self->read_children();
    self->seen_status_ = session.status().changes;
  }

  /// Tells the state of the node, and what changes.
  static asio::awaitable<void> follow(std::shared_ptr<node_watch> self) {
    self->print(self->first_);
    while (!self->is_over()) co_await self->wait_for_change();
  }

  void end(std::exception_ptr trouble = {}) noexcept {
    is_over_ = true;
    trouble_ = std::move(trouble);
  }
  std::exception_ptr trouble() const noexcept { return trouble_; }
  bool is_over() const noexcept { return is_over_; }

 private:
  asio::awaitable<void> read_children() {
    auto listing = co_await session->async_children(path_, as_result);
    const error_code error = std::get<0>(listing);
    if (error == errc::no_node) co_return;  // the watch will tell
    check_node(error, path_);
    memory_.begin_children(std::move(std::get<1>(listing)));
  }

  asio::awaitable<void> wait_for_change() {
    using namespace asio::experimental::awaitable_operators;
    auto status = session->async_status_change(seen_status_, as_result);
    auto data = session->async_data_change(path_, memory_.mzxid(), as_result);
    if (!memory_.exists()) {
      auto first = co_await (std::move(data) || std::move(status));
      first.index() == 0 ? on_data(std::get<0>(first)) : on_status(std::get<1>(first));
      co_return;
    }
    auto children = session->async_children_change(path_, memory_.pzxid(), as_result);
    auto first = co_await (std::move(data) || std::move(children) || std::move(status));
    if (first.index() == 0) on_data(std::get<0>(first));
    if (first.index() == 1) on_children(std::get<1>(first));
    if (first.index() == 2) on_status(std::get<2>(first));
  }

  /// Whether there is a result. Without a connection the wait begins anew; the status tells of it.
  bool has_result(const error_code& error) {
    if (error == errc::no_node) print_all(memory_.on_gone());
    if (error == errc::no_node || error == errc::connection_loss || error == errc::session_expired) return false;
    check_node(error, path_);
    return true;
  }

  void on_data(const data_result& result) {
    if (has_result(std::get<0>(result))) print_all(memory_.on_data(std::get<1>(result)));
  }

  void on_children(const children_result& result) {
    if (has_result(std::get<0>(result))) print_all(memory_.on_children(std::get<1>(result)));
  }

  void on_status(const status_result& result) {
    check_node(std::get<0>(result), path_);
    const auto& status = std::get<1>(result);
    seen_status_ = status.changes;
    const bool is_connected = status.state == session_state::connected;
    if (is_cut_off_ && !is_connected) return;
    // Several changes of state may be told as one: connected again is a connection that was lost, too.
    if (!is_cut_off_) print({node_change::kind::disconnected});
    if (is_connected) print({node_change::kind::reconnected});
    is_cut_off_ = !is_connected;
  }

  void print_all(const std::vector<node_change>& changes) {
    for (const auto& each : changes) print(each);
  }

  void print(const node_change& change) {
    if (is_over_) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto text =
        to_text(change, path_, std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), format_);
    errno = 0;
    out_ << text << std::flush;
    // A reader that has gone has read what it wanted.
    if (!out_ && errno != EPIPE) throw failure(exit_code::error, "the output could not be written");
    if (left_ && is_change(change)) --*left_;
    if (!out_ || left_ == 0) is_over_ = true;
  }

  std::ostream& out_;
  std::string path_;
  node_format format_;
  std::optional<std::uint64_t> left_;
  node_memory memory_;
  node_change first_{node_change::kind::absent};
  std::uint64_t seen_status_ = 0;
  bool is_cut_off_ = false;
  bool is_over_ = false;
  std::exception_ptr trouble_;
};

void follow_until_the_end(surroundings& around, const std::shared_ptr<node_watch>& watch) {
  asio::signal_set signals(around.io, SIGTERM, SIGINT);
  signals.async_wait([watch](const auto& error, int) {
    if (!error) watch->end();
  });
  asio::posix::stream_descriptor reader(around.io, watch_for_closing(STDOUT_FILENO));
  reader.async_wait(asio::posix::stream_descriptor::wait_read, [watch](const auto& error) {
    if (!error) watch->end();
  });
  // After a signal the task ends with the session, when this function has returned.
  asio::co_spawn(around.io, node_watch::follow(watch), [watch](std::exception_ptr error) { watch->end(error); });
  while (!watch->is_over()) around.io.run_one();
  if (watch->trouble()) std::rethrow_exception(watch->trouble());
}

}  // namespace

exit_code watch_node(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto watch = std::make_shared<node_watch>(around, wanted, asked, path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  try {
    run_task(around.io, limit, *watch, node_watch::begin(watch));
    follow_until_the_end(around, watch);
  } catch (const failure&) {
    end_contact(around.io, *watch, std::chrono::steady_clock::now());
    throw;
  }
  end_contact(around.io, *watch, std::chrono::steady_clock::now());
  return exit_code::ok;
}

}  // namespace zkadmin
