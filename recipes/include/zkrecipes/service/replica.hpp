// A program of several replicas, put together: docs/service.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/term.hpp>
#include <zkrecipes/flow/limiter.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/service/configuration.hpp>
#include <zkrecipes/service/json_log.hpp>
#include <zkrecipes/service/metrics_page.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes::service {

/// The parts of the process that the work may use.
struct surroundings {
  const configuration settings;
  json_log& log;
  session zk;
  std::optional<zkrecipes::limiter> limiter;  ///< As the table [limiter] says, for calls to an outside service.
};

/// The work of the program, as the user writes it.
struct work {
  /// Processes one message, as `queue_consumer::process` says. A coroutine that is no lambda with a capture.
  std::function<boost::asio::awaitable<message_outcome>(surroundings& here, term present, const message& item)> process;
  std::function<void(metrics_page&)> metrics{};  ///< Adds figures of the program to the page of metrics, if set.
};

/// How the process ends.
enum class exit_code {
  stopped = 0,  ///< By a signal. Other replicas can go on at once, or when the session has timed out at the servers.
  failed = 1,   ///< The run has ended by itself; the log has the reason. Start it again.
  misused = 2,  ///< The command line or the configuration has a mistake. Starting it again does not help.
  cut_off = 3,  ///< The grace was over before everything was handed over, or there was a second signal.
};

/// One replica: takes messages over HTTP and puts them into the queue or topic, each numbered one once; consumes, alone
/// or with other replicas; tells its state to probes, Prometheus and the log; stops at SIGTERM and SIGINT within the
/// grace. It runs on a context with one thread, and stops the context at the end. Thread safety: none.
class replica {
 public:
  /// \throws std::runtime_error if the HTTP port can not be had, and std::invalid_argument, with the name of the
  /// option, if the library refuses a setting.
  replica(boost::asio::io_context& io, configuration settings, json_log& log, work does);
  ~replica();  ///< Not after `exit_code::cut_off`: operations that have not ended use it.

  void start();
  exit_code result() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// Does the whole of `main`: reads the command line, `CONFIGURATION [--id ID] [--port PORT]`, and runs one replica to
/// its end, with the log on standard output. Raises the process's limit of open files, for as many connections as the
/// configuration allows. If the thread is blocked when a signal asks it to stop, a thread of this function ends the
/// process with `exit_code::cut_off`, half a second after the grace, or after a second signal. Returns an `exit_code`.
int run(int count, char** arguments, work does);

}  // namespace zkrecipes::service
