// The process that has the session, and below which the command runs.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

#include "commands/commands.hpp"
#include "hold/command_process.hpp"
#include "hold/tenure.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

// Gets in line for what is to be held.

struct acquired {
  zkrecipes::error_code error;
  zkrecipes::ownership held;
  std::string detail{};  ///< More about the error, if there is anything to add.
};

/// One try, with this budget if the options let it wait. Errors: those of the recipe. Throws `failure` (usage) if an
/// option is not acceptable to the recipe.
boost::asio::awaitable<acquired> acquire(zkrecipes::session over, std::string path, const hold_options& how,
                                         zkrecipes::time_budget budget);

/// "lock", "leadership": what it is called in messages.
const char* name_of(hold_kind kind) noexcept;

/// What the keeper has from the process that started it.
struct keeper_start {
  int line;                          ///< A socket, on which the front process tells of signals.
  pid_t group;                       ///< The process group of the front process.
  const inherited_signals& signals;  ///< As the front process got them.
  boot_timer& last_resort;           ///< When it expires the front process kills everything.
};

/// Waits until it holds what is wanted, runs the command for as long as it does, and gives it up.
class keeper {
 public:
  keeper(surroundings& around, const settings& wanted, std::string path, hold_options how, const keeper_start& start);

  /// Returns the exit status. Throws `failure`.
  int run();

 private:
  // They run beside each other on the context.
  boost::asio::awaitable<int> work();
  boost::asio::awaitable<void> hear_signals();
  boost::asio::awaitable<void> notice_ends();

  boost::asio::awaitable<void> connect();
  boost::asio::awaitable<bool> take_over_rights();
  boost::asio::awaitable<void> require_own_kind();
  boost::asio::awaitable<std::optional<int>> hold();
  boost::asio::awaitable<acquired> get_in();
  boost::asio::awaitable<tenure_end> run_command(tenure& present);
  void start_command(tenure& present);
  boost::asio::awaitable<void> release(std::shared_ptr<bool> is_confirmed);
  void confirm_release();
  void obey(passed_signal got);
  void stop_waiting();
  bool is_to_end() const noexcept { return signal_ != 0 || is_front_gone_; }
  int status_of_end() const;
  int status_without_command(const acquired& got) const;
  int status_of(tenure_end end) const;
  std::vector<std::string> environment_of_command() const;
  void print(const std::string& message) const;

  surroundings& around_;
  const settings& wanted_;
  std::string path_;
  hold_options how_;
  keeper_start start_;
  zkrecipes::session session_;
  alarm alarm_;
  boost::asio::local::stream_protocol::socket line_;
  boost::asio::signal_set ends_;
  std::array<passed_signal, 1> heard_{};
  zkrecipes::ownership held_;
  std::optional<command_process> command_;
  tenure* tenure_ = nullptr;    // while there is one
  int signal_ = 0;              // one that ends us, because there is no command that could obey it
  bool is_front_gone_ = false;  // it was killed
  bool is_stopped_ = false;     // the terminal's job is
  bool reads_rights_ = false;   // of the line
  bool is_late_ = false;        // the time for all was over before they had been read
  std::optional<zkrecipes::lease_clock::time_point> waits_since_;  // for the first place in line
  std::optional<int> status_;
  std::exception_ptr error_;
};

}  // namespace zkadmin
