// Chooses one of the instances of a service.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <zkrecipes/service_discovery.hpp>

namespace zkrecipes {

namespace detail {
class instance_chooser;
}

enum class service_strategy {
  round_robin,
  random,
  sticky,    ///< The same as long as it can be chosen; then another, at random.
  weighted,  ///< At random, in proportion to `service_provider_options::weight`.
};

/// Settings of a `service_provider`.
struct service_provider_options {
  service_strategy strategy = service_strategy::round_robin;
  /// Whether an instance may be chosen at all; unset: every enabled instance may.
  std::function<bool(const service_instance&)> accept{};
  /// For `weighted`: how often an instance is chosen, compared to the others; 0: never. Called once for each instance
  /// in a pick. Unset: all weigh the same.
  std::function<std::uint32_t(const service_instance&)> weight{};
  /// An instance rests after this many errors were noted, each within `rest` of the one before. 1 to 1000. At most half
  /// of those that could be chosen rest.
  int errors_until_rest = 2;
  /// The longest rest. 1 ms to 24 h. The first one of an instance takes a second, each further one twice as long as the
  /// one before. An instance that goes without an error for this time, or has left and comes again, begins anew.
  std::chrono::milliseconds rest{30'000};
};

/// Chooses among the instances of one service. Move-only; the destructor ends its view of the service. `accept` and
/// `weight` are hooks: see docs/operations.md. Thread safety: safe.
class service_provider {
 public:
  using executor_type = boost::asio::any_io_executor;

  service_provider() noexcept;  ///< Has nothing to choose, like one that was moved from: operations complete with
                                ///< `closed`.
  /// Starts to watch the service. \throws std::invalid_argument naming the bad service or option.
  service_provider(const service_discovery& in, const std::string& service, service_provider_options options);
  service_provider(const service_discovery& in, const std::string& service)
      : service_provider(in, service, service_provider_options()) {}
  service_provider(service_provider&&) noexcept;
  service_provider& operator=(service_provider&&) noexcept;
  ~service_provider();

  /// Chooses one of the instances that were seen last, also while they can not be read; waits only for the first view.
  /// The chosen instance may have died a session timeout ago.
  ///
  /// Signature: `void(error_code, service_instance)`.
  /// Errors: `no_node` (there is none to choose), and before the first view as `children_view::async_current`.
  /// Cancellation: all types.
  /// Thread safety: as the class says; the hooks are called on the strand of the session.
  /// Cost: none: the choice is made in memory.
  template <token_for<service_instance> Token = default_token>
  auto async_pick(Token&& token = Token()) {
    return detail::initiate<void(error_code, service_instance)>(token, &start_pick, chooser_);
  }

  /// Tells the provider that using this instance failed.
  void note_error(const service_instance& instance);

  const std::string& path() const noexcept;  ///< The path of the service.
  const session& get_session() const noexcept { return session_; }
  const service_provider_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using chooser_ptr = std::shared_ptr<detail::instance_chooser>;
  static void start_pick(detail::handler_for<void(error_code, service_instance)>, chooser_ptr);

  session session_;
  service_provider_options options_;
  chooser_ptr chooser_;
};

}  // namespace zkrecipes
