// The children of a node with their data, kept up to date, and the difference to what a caller saw last.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// One child in a view.
struct child_node {
  std::string name;
  std::string data;
  node_stat stat;    ///< As of the last change of the data.
  error_code error;  ///< `no_auth` if the data must not be read; the other children are shown all the same.
};

using child_ptr = std::shared_ptr<const child_node>;

/// The children as a view saw them. A snapshot that was never filled in holds nothing, not even the parent.
struct children_snapshot {
  bool exists = false;           ///< Whether the parent exists.
  std::vector<child_ptr> nodes;  ///< In order of their names.

  /// The child of this name; null if there is none.
  child_ptr find(std::string_view name) const;
};

/// How `now` differs from what was seen before. A child that was deleted and made again in between is another child,
/// whatever its version: it is in `removed` and in `added`.
struct children_change {
  children_snapshot now;
  std::vector<child_ptr> added;
  std::vector<child_ptr> changed;
  std::vector<child_ptr> removed;  ///< As they were last seen.

  bool empty() const noexcept { return added.empty() && changed.empty() && removed.empty(); }
};

/// The difference of two snapshots, without I/O. Two nodes are the same if their `czxid`, `mzxid` and `error` are.
children_change difference(const children_snapshot& before, const children_snapshot& now);

namespace detail {
class children_reader;
}

/// Settings of a `children_view`.
struct children_view_options {
  /// Whether a child belongs to the view; unset: all do. A hook: see docs/operations.md.
  std::function<bool(const child_node&)> accept{};
  /// Least time from the beginning of one reading to that of the next: children that change all the time are read, and
  /// shown, at this rate. A change that comes more than this time after the beginning of the last reading is read at
  /// once. 0 (at every change) to 1 h.
  std::chrono::milliseconds interval{100};
};

/// A view of the children of one path, for as long as the object lives.
///
/// It is level-triggered: it converges to what is there, and tells the difference to what the caller saw. States in
/// between may be skipped. After a lost connection all children are read anew. Each child is shown as it was when it
/// was read, so the children are not all as of one moment. While there are changes all the time the view follows them
/// reading by reading: a change is in the first or the second view whose reading begins after it. The first view takes
/// two round trips for up to a thousand children, and one more for each further thousand; a child that comes or changes
/// takes one or two.
///
/// Move-only; the destructor ends the view and removes its watches. Thread safety: safe.
class children_view {
 public:
  using executor_type = boost::asio::any_io_executor;

  children_view() noexcept;  ///< Shows nothing, like one that was moved from: operations complete with `closed`.
  /// Begins to read the children of `path`, which may be made later.
  /// \throws std::invalid_argument naming the bad path or option.
  children_view(session over, std::string path, children_view_options options);
  children_view(session over, std::string path)
      : children_view(std::move(over), std::move(path), children_view_options()) {}
  children_view(children_view&&) noexcept;
  children_view& operator=(children_view&&) noexcept;
  ~children_view();

  /// The latest view; empty until the first reading is done.
  children_snapshot snapshot() const;

  /// Completes with the present view as soon as there is one.
  ///
  /// Signature: `void(error_code, children_snapshot)`.
  /// Errors: `no_auth` (the list of the parent must not be read), `server_error` (the server has been too busy for
  /// longer than `retry_policy::limit`): the view goes on trying in the background; `closed`, `auth_failed`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says; `children_view_options::accept` is called on the strand of the session.
  /// Cost: none: the view reads by itself.
  template <token_for<children_snapshot> Token = default_token>
  auto async_current(Token&& token = Token()) {
    return detail::initiate<void(error_code, children_snapshot)>(token, &start_current, reader_);
  }

  /// Completes with the difference when the view differs from `seen`: at once, or as soon as it does.
  ///
  /// Signature: `void(error_code, children_change)`.
  /// Errors: as `async_current`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as `async_current`.
  /// Cost: none: the view reads by itself.
  template <token_for<children_change> Token = default_token>
  auto async_change(children_snapshot seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, children_change)>(token, &start_change, reader_, std::move(seen));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const children_view_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

  /// For the recipes.
  const std::shared_ptr<detail::children_reader>& get_reader() const noexcept { return reader_; }

 private:
  using reader_ptr = std::shared_ptr<detail::children_reader>;
  static void start_current(detail::handler_for<void(error_code, children_snapshot)>, reader_ptr);
  static void start_change(detail::handler_for<void(error_code, children_change)>, reader_ptr, children_snapshot);

  session session_;
  children_view_options options_;
  reader_ptr reader_;
};

}  // namespace zkrecipes
