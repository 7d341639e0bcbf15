// Workers of one process that make their steps at the same pace.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/balance_options.hpp>
#include <zkrecipes/balance_status.hpp>
#include <zkrecipes/balance_track.hpp>

namespace zkrecipes {

namespace detail {
class balance_core;
}

/// Keeps the tracks of one process within a range: at any moment no two of them differ by more steps than
/// `balance_options::range`. A track that is too far ahead waits; the slowest never does. It needs no session and no
/// server. All advance at the rate of the slowest, so docs/recipes/balance.md tells when not to use it. Thread safety:
/// safe. Copies stand for the same tracks, which live on without it.
class balance {
 public:
  using executor_type = boost::asio::any_io_executor;

  balance() = default;  ///< Stands for nothing: its tracks stand for nothing, either.
  /// \throws std::invalid_argument naming the bad option, or the executor if it is empty.
  balance(executor_type executor, balance_options options);
  explicit balance(executor_type executor) : balance(std::move(executor), balance_options()) {}

  /// A new track, which begins with the steps of the slowest one, so that nobody has to wait for it to catch up.
  /// `name`: 1 to 256 bytes without control characters, for the status; several tracks may have the same. Cost: a lock
  /// and a look at all tracks.
  /// \throws std::invalid_argument naming the bad name, std::length_error if there are 10 000 tracks.
  [[nodiscard]] balance_track track(std::string name) const;

  /// The tracks at this moment. Cost: a lock and a look at all tracks.
  balance_status status() const;

  const balance_options& options() const noexcept;
  executor_type get_executor() const noexcept;

 private:
  std::shared_ptr<detail::balance_core> core_;
};

}  // namespace zkrecipes
