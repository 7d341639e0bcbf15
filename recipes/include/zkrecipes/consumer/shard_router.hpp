// Which member of a shard group owns the shard of a key, for services that forward requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class map_reader;
}

/// The owner of a shard, as the map of the group says.
struct shard_route {
  std::string id;    ///< The id of the member.
  std::string node;  ///< The name of its node: another one after a restart.
  std::string data;  ///< See `shard_group_options::data`.

  friend bool operator==(const shard_route&, const shard_route&) = default;
};

/// Follows the map of a shard group for as long as the object lives. The planner of the group writes the map at most
/// once a second, so it lags behind by up to a second and a round trip, and further while there is no planner. It is a
/// hint: the member that gets a request has to see whether it owns the shard. Only `shard_group` and its terms tell
/// that for sure.
///
/// Move-only. Thread safety: safe.
class shard_router {
 public:
  using executor_type = boost::asio::any_io_executor;

  shard_router() noexcept;  ///< Knows nothing, like one that was moved from: operations complete with `closed`.
  /// `path`: of the group, which may be missing and come later.
  /// \throws std::invalid_argument naming the bad path.
  shard_router(session over, std::string path);
  shard_router(shard_router&&) noexcept;
  shard_router& operator=(shard_router&&) noexcept;
  ~shard_router();

  /// Completes when a map is known: at once, or as soon as the group has one.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `foreign_data` (another node is in the place of the map), `no_auth`: it goes on trying; `closed`,
  /// `auth_failed`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none. In the background one read with a watch for each change of the map.
  template <token_for<> Token = default_token>
  auto async_started(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_started, reader_);
  }

  /// The owner of the shard that the key belongs to. Nothing while that is on its way to another owner, in quarantine,
  /// or not known. No request is sent.
  std::optional<shard_route> route(std::string_view key) const;
  std::optional<shard_route> owner(std::uint32_t number) const;
  /// The number of shards; 0 while no map is known.
  std::uint32_t count() const;
  /// The number of the plan that the map is of; 0 while no map is known.
  std::int64_t plan() const;

  const std::string& path() const noexcept;  ///< The path of the group.
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using reader_ptr = std::shared_ptr<detail::map_reader>;
  static void start_started(detail::handler_for<void(error_code)>, reader_ptr);

  session session_;
  reader_ptr reader_;
};

}  // namespace zkrecipes
