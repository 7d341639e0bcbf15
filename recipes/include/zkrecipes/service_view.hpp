// The instances of one service, kept up to date.
#pragma once

#include <memory>
#include <utility>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/service_snapshot.hpp>

namespace zkrecipes {

/// The instances of one service, kept up to date by the rules of a `children_view`. Move-only; the destructor ends the
/// view. Thread safety: safe.
class service_view {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Completes with the present view as soon as there is one.
  ///
  /// Signature: `void(error_code, service_snapshot)`.
  /// Errors: as `children_view::async_current`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none: the view reads by itself.
  template <token_for<service_snapshot> Token = default_token>
  auto async_current(Token&& token = Token()) {
    return detail::initiate<void(error_code, service_snapshot)>(token, &start_current, nodes_.get_reader());
  }

  /// Completes with the difference when the view differs from `seen`: at once, or as soon as it does. `seen`: a
  /// snapshot of this view, or `{}`.
  ///
  /// Signature: `void(error_code, service_change)`.
  /// Errors: as `children_view::async_current`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none: the view reads by itself.
  template <token_for<service_change> Token = default_token>
  auto async_change(service_snapshot seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, service_change)>(token, &start_change, nodes_.get_reader(),
                                                              std::move(seen.nodes));
  }

  const std::string& path() const noexcept { return nodes_.path(); }
  const session& get_session() const noexcept { return nodes_.get_session(); }
  executor_type get_executor() const noexcept { return nodes_.get_executor(); }

  service_view() noexcept =
      default;  ///< Shows nothing, like one that was moved from: operations complete with `closed`.
  explicit service_view(children_view nodes) noexcept : nodes_(std::move(nodes)) {}

 private:
  using reader_ptr = std::shared_ptr<detail::children_reader>;
  static void start_current(detail::handler_for<void(error_code, service_snapshot)>, reader_ptr);
  static void start_change(detail::handler_for<void(error_code, service_change)>, reader_ptr, children_snapshot);

  children_view nodes_;
};

}  // namespace zkrecipes
