// The children of a node with their data, kept up to date, and how they differ from what one saw last.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class children_reader;
}

struct child_node {
  std::string name;
  std::string data;
  zkrecipes::stat stat;  ///< As of the last change of the data.
  error_code error;      ///< `no_auth` where the data must not be read; the others are shown all the same.
};

using child_ptr = std::shared_ptr<const child_node>;

/// What was seen. One that was never filled in: nothing, not even the parent.
struct children_snapshot {
  bool exists = false;           ///< The parent does.
  std::vector<child_ptr> nodes;  ///< In order of their names.

  /// Null if there is none of this name.
  child_ptr find(std::string_view name) const;
};

/// How `now` differs from what was seen before. A child that was deleted and made again in between is in `removed` and in
/// `added`, whatever its version: it is another one.
struct children_change {
  children_snapshot now;
  std::vector<child_ptr> added;
  std::vector<child_ptr> changed;
  std::vector<child_ptr> removed;  ///< As they were.

  bool empty() const noexcept { return added.empty() && changed.empty() && removed.empty(); }
};

/// Pure: nodes are the same if their `czxid`, `mzxid` and `error` are.
children_change difference(const children_snapshot& before, const children_snapshot& now);

struct children_view_options {
  /// Whether a child belongs to the view; unset: all do. A hook: see docs/operations.md.
  std::function<bool(const child_node&)> accept{};
  /// From the beginning of one reading to that of the next, at least: what changes all the time is read, and shown, at this
  /// rate. A change that comes later than that after the last reading is read at once. 0 (at every change) to 1 h.
  std::chrono::milliseconds interval{100};
};

/// A view of the children of one path, for as long as the object lives.
///
/// Level-triggered: it converges to what is there, and tells the difference to what the caller saw. States in between may
/// be skipped. After a lost connection all is read anew. Each child is shown as it was when it was read, not all as of
/// one moment. Where there are changes all the time the view follows them reading by reading: a change is in the first or
/// the second view whose reading begins after it. The first view takes two round trips, for a thousand children as for one;
/// a child that comes or changes costs one or two.
///
/// Move-only; the destructor ends the view and takes its watches away. Thread safety: safe.
class children_view {
 public:
  /// Starts to read. The path may be missing and come later.
  /// \throws std::invalid_argument naming the bad path or option.
  children_view(session over, std::string path, children_view_options options);
  children_view(session over, std::string path)
      : children_view(std::move(over), std::move(path), children_view_options()) {}
  children_view(children_view&&) noexcept;
  children_view& operator=(children_view&&) noexcept;
  ~children_view();

  /// What was seen last; empty until the first look has come back.
  children_snapshot snapshot() const;

  /// Completes with the present view once there is one. Errors: `no_auth` (of the parent; it is tried on in the
  /// background), `closed`, `auth_failed`. Cancellation: all types.
  template <class Token>
  auto async_current(Token&& token) {
    return detail::initiate<void(error_code, children_snapshot)>(token, &start_current, reader_);
  }

  /// Completes when the view differs from `seen`: at once, or when it does. Errors and cancellation as `async_current`.
  template <class Token>
  auto async_change(children_snapshot seen, Token&& token) {
    return detail::initiate<void(error_code, children_change)>(token, &start_change, reader_, std::move(seen));
  }

  const std::string& path() const noexcept;

  /// For the recipes.
  const std::shared_ptr<detail::children_reader>& get_reader() const noexcept { return reader_; }

 private:
  using reader_ptr = std::shared_ptr<detail::children_reader>;
  static void start_current(detail::handler_for<void(error_code, children_snapshot)>, reader_ptr);
  static void start_change(detail::handler_for<void(error_code, children_change)>, reader_ptr, children_snapshot);

  reader_ptr reader_;
};

}  // namespace zkrecipes
