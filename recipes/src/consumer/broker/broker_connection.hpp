// The connection of a consumer or producer to a broker: it is made anew when it has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/log.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/tls_options.hpp>

#include "backend/link.hpp"
#include "backend/tls/tls_context.hpp"
#include "backend/world.hpp"
#include "format/shown_text.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// One connection to a broker.
/// It connects to one numeric address, and ends once. On the strand.
class broker_link {
 public:
  broker_link() = default;
  virtual ~broker_link() = default;
  broker_link(const broker_link&) = delete;
  broker_link& operator=(const broker_link&) = delete;

  virtual void connect(const backend::endpoint& broker) = 0;
  virtual bool is_up() const noexcept = 0;
  virtual bool is_over() const noexcept = 0;
  /// Why it has ended, in words.
  virtual const std::string& reason() const noexcept = 0;
  /// Why it has ended.
  virtual error_code why() const noexcept = 0;
  /// When a part of an answer has come last. Heartbeats are none. A link that sends a large request in parts counts
  /// these, too, as the system takes them.
  virtual lease_clock::time_point last_passed() const noexcept = 0;
  /// Ends the connection. Nothing is called after this.
  virtual void abandon() = 0;
};

// What a connection to a broker needs to know.

struct broker_frame {
  core_ptr session{};
  std::string kind{};  ///< "redis" or "rabbitmq"; the log has it in front of the address.
  std::vector<backend::endpoint> brokers{};
  std::shared_ptr<backend::tls_context> tls{};  ///< Null: plain text. On the strand.
  std::chrono::milliseconds timeout{0};
  retry_policy retry{};
  error_code unavailable{};                          ///< The error of a broker that can not be reached.
  error_code refused_credentials{};                  ///< The error of a broker that refuses user or password.
  bool (*may_recover)(const error_code&) = nullptr;  ///< The broker is tried again after this error.
};

using broker_frame_ptr = std::shared_ptr<const broker_frame>;

/// Finds a broker that serves, and authenticates. Failures that may pass are waited out with growing pauses; each new
/// reason is told to the log of the session, without the password. Several coroutines may use it: one tries at a time,
/// and the others wait for what it finds. On the strand.
class broker_connection {
 public:
  /// Further failures that are waited out, besides those that pass by themselves.
  enum class retries {
    none,
    with_refusals,  ///< A refused password or right: somebody mends it, and a rotation takes a moment.
  };

  explicit broker_connection(broker_frame_ptr frame, retries with = retries::none);
  virtual ~broker_connection();
  broker_connection(const broker_connection&) = delete;
  broker_connection& operator=(const broker_connection&) = delete;

  /// Notified when the connection has ended, and while one is made. Handlers of replies notify conditions of their own.
  condition& changed() noexcept { return changed_; }

  /// Whether the broker is tried again after this error.
  bool may_recover(const error_code& error) const;
  /// Waits until there is a connection. Errors: `operation_aborted`, that of the session that is over, and those after
  /// which `may_recover` is false; `broker_frame::unavailable` when the time is over. There is one try at
  /// least, unless somebody else tries; one that has begun goes once round the addresses, and no pause outlasts the
  /// time.
  awaitable<error_code> ready(lease_clock::time_point until = never);
  bool is_up() const noexcept { return is_ready_ && link_ && link_->is_up(); }
  /// Each connection has another number.
  std::uint64_t number() const noexcept { return number_; }

  /// When an answer is late that was to come by this time. A large one takes its time on a slow line: with each part
  /// that passes (`broker_link::last_passed`) `timeout` begins anew. Else it would be asked for again and again, and
  /// never come.
  lease_clock::time_point due(lease_clock::time_point by) const noexcept;
  /// Waits for a notification, also without one, and is to be called again until the answer is there. `changed` has to
  /// be forwarded to the condition. When the answer is late, the connection is given up with these words, and the
  /// result is `timed_out`.
  awaitable<wake> wait_for_answer(condition& arrived, lease_clock::time_point by, std::string_view words);

  /// If the connection has ended, and nobody was told, the log is told now instead of in `ready`.
  void log_end();
  /// Ends the connection because of this, which is told; the next one is made after a pause.
  void give_up(const error_code& why, std::string_view detail);
  /// Ends the connection; the next one is made without a pause.
  void close();
  /// Tells the log what a reply of the broker says.
  void write_log(log_severity severity, session_event event, const error_code& why, std::string_view detail);
  /// The broker has done what it was asked for: the next pause is the first one again.
  void on_success() { pause_.reset(); }

 protected:
  /// A link over this stream, which is null in a world without brokers. `changed` must not be called after `abandon`.
  virtual std::shared_ptr<broker_link> make_link(std::unique_ptr<backend::broker_stream> over,
                                                 std::function<void()> changed) = 0;
  /// What has to be said first on a link that is up. Before it returns an error it sets `record_detail`.
  virtual awaitable<error_code> greet(lease_clock::time_point deadline) = 0;

  /// The words of the log for the failure of now.
  void record_detail(std::string_view words) { last_detail_ = shown_text(words); }
  /// A reply to the greeting has come.
  void on_change() { changed_.notify(); }
  /// The link of now, which may be over; null: there is none.
  broker_link* present_link() const noexcept { return link_.get(); }

 private:
  struct candidate {
    backend::endpoint at{};  // numeric
    std::string name{};      // as the user wrote it
  };

  struct lookup;

  awaitable<error_code> make_connection(lease_clock::time_point until);
  awaitable<error_code> rest(lease_clock::time_point until);
  awaitable<error_code> try_brokers();
  awaitable<error_code> try_broker(candidate broker);
  awaitable<error_code> await_link(const broker_link& link, lease_clock::time_point deadline);
  void drop_link();
  awaitable<std::vector<candidate>> resolve();
  void log_failure(const error_code& why, std::string_view detail);

  broker_frame_ptr frame_;
  retries retries_;
  log_hook log_;
  condition changed_;
  back_off pause_;
  std::shared_ptr<broker_link> link_;
  std::weak_ptr<void> trying_;      // a coroutine that makes a connection, or pauses before it
  std::shared_ptr<lookup> lookup_;  // until its answer was used; a try that gives it up leaves it to the next
  bool is_ready_ = false;
  bool is_fresh_ = true;  // no pause before the next try
  std::uint64_t number_ = 0;
  std::string server_;  // of the log
  std::string told_;    // the last reason that was told
  std::string last_detail_;
};

/// Answers a reply that refuses: the connection is given up without an error if the failure may pass, else the error is
/// told, and returned.
error_code judge_failure(broker_connection& of, const error_code& why, std::string_view detail);

/// The settings that all brokers have in common, and how they are checked.
class broker_settings : public option_checks {
 public:
  using option_checks::option_checks;

  /// Neither has a NUL byte, and a user has a password.
  void require_login(const std::string& user, const std::string& password) const;
  /// The time for an answer (10 ms to 1 h), and the pauses between tries.
  void require_times(std::chrono::milliseconds timeout, const retry_policy& retry) const;
  /// "host:port[,host:port...]"; brokers without a port have this one.
  std::vector<backend::endpoint> parse_brokers(const std::string& hosts, std::uint16_t port) const;
  /// Null: plain text.
  std::shared_ptr<backend::tls_context> load_certificates(const std::optional<tls_options>& tls) const;

  /// What connections need, but for the session and the errors.
  template <class Options>
  broker_frame frame_of(const Options& options, std::string kind, std::uint16_t port) const {
    broker_frame frame;
    frame.kind = std::move(kind);
    frame.brokers = parse_brokers(options.hosts, port);
    frame.tls = load_certificates(options.tls);
    frame.timeout = options.timeout;
    frame.retry = options.retry;
    return frame;
  }
};

}  // namespace zkrecipes::detail
