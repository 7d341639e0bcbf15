// Putting into a topic or a queue by way of a file, so that what was accepted outlives the process and outages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <boost/system/error_code.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// `spool_status::trouble` names the file, what the system said of it, and the cure.
enum class spool_errc {
  disk_full = 1,  ///< There is no room for the file. What was confirmed is kept. It is tried again each second.
  io_failed,      ///< The file could not be read, written or synced. It is opened and read again each second.
  no_access,      ///< The file could not be opened or made: its folder is missing, or it is not ours to write.
  locked,         ///< Another process, or another object of this one, has the file.
  foreign_file,   ///< Not a spool, or that of another path or name, or made by a later version. It is left as it is.
  corrupt,        ///< The file is damaged, or has lost what was confirmed. It is left as it is.
};

/// The category of `spool_errc`; its name is "zkrecipes.spool".
const boost::system::error_category& spool_category() noexcept;

error_code make_error_code(spool_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::spool_errc> : std::true_type {};

namespace zkrecipes {

/// When a message counts as accepted, and so how much of what was accepted can be lost.
enum class spool_durability {
  memory,   ///< At once. An end of the process loses what has not been written yet.
  process,  ///< When it is written to the file. A power failure loses what the system has not written to the disk yet.
  power     ///< When it is synced to the disk: only a broken disk loses it.
};

/// What becomes of a message for which there is no room.
enum class spool_full { wait, reject };

/// Settings of a spooled producer: its file, when a message counts as accepted, and its bounds. The constructor of the
/// producer throws `std::invalid_argument` for a setting that is out of its bounds.
struct spool_options {
  /// The file of this producer. Its folder has to exist, on a local file system: locks of network file systems can not
  /// be relied on. Beside it SQLite makes a file with "-wal" behind its name, which belongs to it. Must not be empty.
  std::string file;
  spool_durability durability = spool_durability::power;
  /// Most messages that are written to the file in one transaction; so many are written at once. 1 to 100 000.
  std::size_t count = 1'000;
  /// For how long the first message of a transaction waits for others, counted from its acceptance. 0 to 60 s.
  std::chrono::milliseconds interval{5};
  /// Most bytes of messages, and most messages, that are accepted and not known to be in the queue. A message counts as
  /// its key, its data, and 64 bytes; the file needs up to twice as much. One message always has room. From 1.
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::uint64_t most_messages = 10'000'000;
  /// Most bytes of accepted messages in memory, counted in the same way: one half for what is to be written to the
  /// file, one half for what is being put. Each half has room for one message in any case. From 1.
  std::size_t most_memory = std::size_t{16} << 20;
  /// A put for which there is no room waits, or ends with `full`. A put that waits keeps its message in memory, beside
  /// `most_memory`.
  spool_full when_full = spool_full::wait;
};

/// What a spooled producer tells of itself at one moment: how far its messages are, what it holds, and what is wrong.
struct spool_status {
  /// The largest number: instead of `lag` and `lag_bytes` until the file could be opened.
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  bool is_open = false;         ///< The file is open. Puts are accepted if it takes them: see `error`.
  std::uint64_t accepted = 0;   ///< The number of the last message that was accepted.
  std::uint64_t spooled = 0;    ///< The number of the last message in the file.
  std::uint64_t put = 0;        ///< The number of the last message that is known to be in the queue.
  std::uint64_t lag = 0;        ///< Messages that are accepted and not known to be in the queue.
  std::uint64_t lag_bytes = 0;  ///< Their bytes, as `spool_options::most_bytes` counts them.
  std::size_t memory = 0;       ///< Bytes of accepted messages in memory, as `spool_options::most_memory` counts them.
  std::size_t waiting = 0;      ///< Puts that wait for room.
  /// For how long the first message that is not known to be in the queue has been accepted, to a few per cent of the
  /// longest wait. Messages of an earlier run count from the opening of the file.
  std::chrono::milliseconds oldest{0};
  /// Messages of this name that the queue has and the file does not know. The file is new, or an older copy, or lost
  /// its end in a power failure, or another producer has used the name. What the missing file had and the queue has not
  /// is lost.
  std::uint64_t gap = 0;
  /// The last failure of the file or of the queue that has not been followed by a success. `connection_loss` also while
  /// something is to be asked or put and there is no connection, told after 1 to 2 s; with RabbitMQ it is
  /// `rabbit_errc::unavailable` if the broker is away.
  error_code error{};
  std::string trouble;  ///< The same in words, with the file and the cure. Also tells of a gap.
};

namespace detail {
class spool_state;
}

class queue;
class topic;

/// Accepts messages into a file, and puts them from there into a topic or a queue: each exactly once, and in the order
/// in which they were accepted, over ends of the process and outages of the ensemble. The file belongs to one path and
/// one producer name. An object of this name goes on after a restart where the queue says that the last one stopped.
/// docs/recipes/spooled-producer.md says what is promised, and what is not. One for queues of RabbitMQ is made by
/// `spool_into` (rabbit_spool.hpp), which says what differs.
///
/// Needs the library `zkrecipes_spool` (CMake: the component `spool`, target `zkrecipes::spool`) and SQLite. It adds
/// one thread to the process, which does all work with the file; nothing else waits for the disk.
///
/// Move-only. Destroying it ends the puts that are not accepted with `closed`, and waits for the thread, which takes as
/// long as the transaction with the file that is under way, or its opening, which reads the whole file. It hands
/// nothing more to the target. What was handed over before, up to 32 000 messages or 4 MiB (a queue: 1 000 or 1 MiB;
/// RabbitMQ: 8 000) is still put until the session is closed, also when the ensemble comes back later. The messages in
/// the file stay there for the next object, which counts with that and puts nothing twice. With
/// `spool_durability::memory` what is not in the file yet is lost; `async_close` writes it. The execution context has
/// to outlive it. Thread safety: safe, apart from moving and destroying it.
class spooled_producer {
 public:
  using executor_type = boost::asio::any_io_executor;

  spooled_producer() noexcept;  ///< Stands for nothing, like one that was moved from: operations complete with
                                ///< `closed`.
  /// Begins to open the file. `name`: as of `topic_producer` and `producer`.
  /// \throws std::invalid_argument naming the bad name or option; std::system_error if there is no room for a thread.
  spooled_producer(const topic& into, std::string name, spool_options options);
  spooled_producer(const queue& into, std::string name, spool_options options);
  explicit spooled_producer(std::shared_ptr<detail::spool_state> state) noexcept;  ///< For the tests.
  spooled_producer(spooled_producer&&) noexcept;
  spooled_producer& operator=(spooled_producer&&) noexcept;
  ~spooled_producer();

  /// Accepts one message, and completes with its number in the file when it is as durable as
  /// `spool_options::durability` says. It will be put then, whatever happens to this process. The bounds of key and
  /// data are those of `producer_base::async_put`. A queue has no keys: there the key has to be empty.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `spool_errc` (the message will not be put, unless the process ends
  /// before the file was opened again: then it may be), `full` (`spool_full::reject`), `too_large`, `bad_arguments` (a
  /// key for a queue), `superseded` (another producer of this name has put something; this object puts nothing more and
  /// accepts nothing more), `closed` (also that of the session), `auth_failed`.
  /// Cancellation: all types. A put that waits for room is not accepted; of one that was accepted only the wait ends.
  /// Thread safety: as the class says.
  /// Cost: no request; a share of one transaction with the file.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(key), std::move(data),
                                                             false);
  }

  /// As `async_put`, but completes when the message is in the queue.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: as `async_put`. With `superseded`, `closed` and `auth_failed` the message may be in the file; the next
  /// object with this file will put it then.
  /// Cancellation: as `async_put`.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`, and a share of one request.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put_through(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(key), std::move(data),
                                                             true);
  }

  /// Completes when all messages are in the queue that were put before the call: those in the file, also of earlier
  /// objects, and those that still wait for room, unless their puts fail or are cancelled. It waits until the file is
  /// open. Messages that are not in the file yet are written without waiting for `spool_options::interval`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (`status` tells why), those of `spool_errc` if the file could not be opened or written,
  /// `superseded`, `closed`, `auth_failed`.
  /// Cancellation: all types; only the wait ends.
  /// Thread safety: as the class says.
  /// Cost: none of its own.
  template <token_for<> Token = default_token>
  auto async_flush(time_budget within, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_flush, state_, within);
  }

  /// Accepts nothing more, puts what is in the file or was accepted for as long as the time lasts, writes the rest to
  /// the file, and closes it. Puts that wait for room end with `closed`. The thread has ended then. Success means that
  /// everything is in the queue.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (the rest is in the file, for the next object), those of `spool_errc` (the file failed: it
  /// keeps what was in it, the puts of other messages fail; with `spool_durability::memory` they are in the file or
  /// lost), `superseded`, `closed`, `auth_failed` (the rest is in the file).
  /// Cancellation: all types, as if the time were over; it still waits until the file is closed.
  /// Thread safety: as the class says.
  /// Cost: none of its own.
  template <token_for<> Token = default_token>
  auto async_close(time_budget within, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_close, state_, within);
  }

  /// As of the last change. Cheap, apart from a copy of `spool_status::trouble`.
  spool_status status() const;

  const std::string& path() const noexcept;  ///< The path of the topic or queue.
  const spool_options& options() const noexcept;
  executor_type get_executor() const noexcept;  ///< Empty if it was made by default or moved from.

 private:
  using state_ptr = std::shared_ptr<detail::spool_state>;
  static void start_put(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr, std::string, std::string,
                        bool);
  static void start_flush(detail::handler_for<void(error_code)>, state_ptr, time_budget);
  static void start_close(detail::handler_for<void(error_code)>, state_ptr, time_budget);

  state_ptr state_;
};

}  // namespace zkrecipes
