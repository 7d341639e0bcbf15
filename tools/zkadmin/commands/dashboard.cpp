#include <algorithm>
#include <clocale>
#include <csignal>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/live_place.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "screen/model.hpp"
#include "screen/render.hpp"
#include "servers/prober.hpp"
#include "terminal/input.hpp"
#include "terminal/terminal.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto search_interval = 1s;        // Least pause between searches for new recipes.
constexpr auto drawing_interval = 200ms;    // Between two drawings, and two looks at what has changed, at least.
constexpr int servers_at_the_interval = 3;  // More servers are asked less often.
constexpr auto clock_interval = 1s;

std::chrono::seconds utc_offset(wall_time when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm local{};
  localtime_r(&seconds, &local);
  return std::chrono::seconds(local.tm_gmtoff);
}

/// The reason of a lost connection, in brackets. A plain connection loss needs no explanation, any other reason does.
std::string reason_text(const zkrecipes::error_code& reason) {
  return !reason || reason == zkrecipes::errc::connection_loss ? "" : " (" + reason.message() + ")";
}

/// The live screen. Each part is a loop of its own, all on one thread. A loop ends when it sees `is_over_`.
class dashboard {
 public:
  dashboard(asio::io_context& io, const settings& wanted, zkrecipes::session session)
      : io_(io),
        wanted_(wanted),
        session_(session),
        recipes_(std::move(session), {wanted.root, wanted.queues, wanted.recipes, wanted.interval},
                 {[this] { on_change(); }, [this](const auto& path, const auto& was) { show_passed(path, was); }}),
        probes_(make_prober(io.get_executor(), wanted, wanted.timeout)),
        servers_(not_asked(wanted.servers)),
        recipes_timer_(io),
        clock_timer_(io),
        drawing_timer_(io),
        input_(io, watch_for_input(STDIN_FILENO)),
        signals_(io) {
    for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}) signals_.add(each);
    terminal_.emplace(wanted.color, wanted.mouse);
    state_.title = wanted.name;
    state_.limits = wanted.limits;
    state_.kinds.queues = !wanted.queues.empty();
    apply(resized{terminal_->width(), terminal_->height()});
    apply(servers_seen{servers_});
    for (std::size_t i = 0; i < servers_.size(); ++i) server_timers_.emplace_back(io);
  }

  void run() {
    for (auto loop :
         {&dashboard::watch_recipes, &dashboard::read_keys, &dashboard::obey_signals, &dashboard::show_time})
      begin((this->*loop)());
    for (std::size_t i = 0; i < servers_.size(); ++i) begin(watch_server(i));
    while (!is_over_) io_.run_one();
    terminal_.reset();
    end_loops();
    close_session(io_, session_, std::chrono::steady_clock::now() + 1s);
  }

 private:
  void begin(asio::awaitable<void> loop) {
    asio::co_spawn(io_, std::move(loop), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
  }

  /// Wakes the loops, so that they see that the dashboard is over.
  void end_loops() {
    end_rests();
    clock_timer_.cancel();
    drawing_timer_.cancel();
    signals_.cancel();
    input_.cancel();
  }

  void end_rests() {
    for (auto& each : server_timers_) each.cancel();
    recipes_timer_.cancel();
  }

  void apply(event what) {
    if (is_over_) return;
    const auto now = std::chrono::system_clock::now();
    state_.utc_offset = utc_offset(now);
    const effect wish = update(state_, std::move(what), now);
    if (wish == effect::quit) is_over_ = true;
    if (wish == effect::refresh) {
      ++refreshes_;
      recipes_.want_all();
      end_rests();
    }
    draw_soon();
  }

  /// An answer to the user comes at once.
  void answer(event what) {
    apply(std::move(what));
    draw();
  }

  /// Draws the changes of a while together.
  void draw_soon() {
    const auto due = drawn_at_ + drawing_interval;
    if (due <= std::chrono::steady_clock::now()) return draw();
    if (std::exchange(is_drawing_due_, true)) return;
    drawing_timer_.expires_at(due);
    drawing_timer_.async_wait([this](const auto& error) {
      if (!error && is_drawing_due_ && !is_over_) draw();
    });
  }

  void draw() {
    is_drawing_due_ = false;
    drawn_at_ = std::chrono::steady_clock::now();
    auto screen = render(state_, terminal_->width(), terminal_->height(), {wanted_.ascii || !terminal::is_unicode()});
    if (drawn_ == screen) return;
    terminal_->draw(screen);
    drawn_ = std::move(screen);
  }

  /// Waits until the next refresh is due or requested.
  asio::awaitable<void> rest(asio::steady_timer& timer, std::chrono::nanoseconds pause) {
    const auto seen = refreshes_;
    do {
      timer.expires_after(pause);
      co_await timer.async_wait(as_result);
    } while (state_.paused && refreshes_ == seen && !is_over_);
  }

  /// Watches one server. Each server has its own loop, so that one that is slow or silent does not delay the others.
  asio::awaitable<void> watch_server(std::size_t which) {
    const prober::hook keep = [this](std::size_t i, server_status seen) {
      servers_[i] = std::move(seen);
      apply(servers_seen{servers_});
    };
    const auto pace = std::max(1, static_cast<int>(servers_.size()) / servers_at_the_interval);
    while (!is_over_) {
      co_await probes_->ask(which, keep);
      co_await rest(server_timers_[which], wanted_.interval * pace);
    }
  }

  /// Watches tell what changes, so a refresh costs one request unless something has changed.
  asio::awaitable<void> watch_recipes() {
    auto search_due = std::chrono::steady_clock::now();
    while (!is_over_) {
      const auto begin = std::chrono::steady_clock::now();
      has_changed_ = false;
      try {
        if (begin >= search_due && recipes_.is_search_due()) {
          co_await recipes_.search(deadline::max());
          search_due = std::chrono::steady_clock::now() + search_interval;
        }
        co_await recipes_.prove(deadline::max());
        show_elections();
        show_others();
      } catch (const failure& error) {
        // Refused credentials close the session, and a closed session can not recover. All other errors may pass.
        if (!is_over_ && session_.status().state == zkrecipes::session_state::closed) throw;
        apply(elections_failed{error.what()});
      }
      co_await rest_until_changed(begin);
    }
  }

  /// Until the next refresh is due, or a little after a change: many changes are drawn together.
  asio::awaitable<void> rest_until_changed(std::chrono::steady_clock::time_point begin) {
    if (!has_changed_ || state_.paused) co_await rest(recipes_timer_, wanted_.interval);
    const auto earliest = begin + std::min<std::chrono::nanoseconds>(drawing_interval, wanted_.interval);
    recipes_timer_.expires_at(earliest);
    if (std::chrono::steady_clock::now() < earliest) co_await recipes_timer_.async_wait(as_result);
  }

  void on_change() {
    if (std::exchange(has_changed_, true)) return;
    recipes_timer_.cancel();
  }

  /// An election changes again before its last state has been shown: the events are not to miss that.
  void show_passed(const std::string& path, const std::optional<election_status>& was) {
    if (!state_.paused && state_.surveyed_at != wall_time{}) apply(election_passed{path, was});
  }

  void show_elections() {
    if (recipes_.has_new_elections() || !state_.seen.elections) {
      apply(elections_seen{recipes_.known_elections()});
    } else {
      apply(elections_confirmed{});
    }
  }

  void show_others() {
    const auto where = state_.shown.which;
    const bool is_any = where == page::problems;
    recipes_.show(
        {is_any || where == page::topics, is_any || where == page::commits, is_any || where == page::recipes});
    if (auto groups = recipes_.new_groups()) apply(groups_seen{std::move(*groups)});
    if (auto topics = recipes_.new_topics()) apply(topics_seen{std::move(*topics)});
    if (auto commits = recipes_.new_commits()) apply(commits_seen{std::move(*commits)});
    if (auto others = recipes_.new_others()) apply(recipes_seen{std::move(*others)});
    if (wanted_.queues.empty()) return;
    if (auto queues = recipes_.new_queues()) apply(queues_seen{std::move(*queues)});
  }

  asio::awaitable<void> read_keys() {
    while (!is_over_) {
      co_await input_.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
      if (is_over_) co_return;
      while (const auto typed = terminal_->read_key()) answer(key_pressed{*typed});
      if (has_ended(STDIN_FILENO)) is_over_ = true;
    }
  }

  asio::awaitable<void> obey_signals() {
    while (!is_over_) {
      auto [error, number] = co_await signals_.async_wait(as_result);
      if (error || is_over_) co_return;
      switch (number) {
        case SIGWINCH: terminal_->resize(); break;
        case SIGTSTP: stop(); break;
        case SIGCONT: terminal_->resume(); break;
        default: is_over_ = true;
      }
      drawn_.reset();
      answer(resized{terminal_->width(), terminal_->height()});
    }
  }

  /// Gives the terminal back and lets SIGTSTP do what it does by default, which depends on the parent: only a shell
  /// with job control stops us.
  void stop() {
    terminal_->suspend();
    signals_.remove(SIGTSTP);
    ::raise(SIGTSTP);
    signals_.add(SIGTSTP);
    terminal_->resume();
  }

  /// Updates the time and, while there is no connection, the age of the elections.
  asio::awaitable<void> show_time() {
    while (!is_over_) {
      clock_timer_.expires_after(clock_interval);
      co_await clock_timer_.async_wait(as_result);
      const auto status = session_.status();
      const bool is_connected = status.state == zkrecipes::session_state::connected;
      if (is_connected || state_.paused) {
        apply(time_passed{});
      } else {
        apply(elections_failed{"no connection" + reason_text(status.reason)});
      }
    }
  }

  asio::io_context& io_;
  const settings& wanted_;
  zkrecipes::session session_;
  live_place recipes_;
  std::shared_ptr<prober> probes_;
  std::vector<server_status> servers_;
  std::deque<asio::steady_timer> server_timers_;
  asio::steady_timer recipes_timer_;
  asio::steady_timer clock_timer_;
  asio::steady_timer drawing_timer_;
  asio::posix::stream_descriptor input_;
  asio::signal_set signals_;
  std::optional<terminal> terminal_;  // Made when the signals are ours: then ncurses does not handle them.
  model state_;
  unsigned refreshes_ = 0;
  bool has_changed_ = false;  // Since the last refresh began.
  bool is_over_ = false;
  std::optional<grid> drawn_;  // The content of the terminal.
  std::chrono::steady_clock::time_point drawn_at_{};
  bool is_drawing_due_ = false;
};

}  // namespace

exit_code run_dashboard(surroundings& around, const settings& wanted) {
  if (!terminal::is_present())
    throw failure(exit_code::usage, "the dashboard needs a terminal; without one use `zkadmin status`");
  std::setlocale(LC_CTYPE, "");
  const auto share = wanted.timeout / (static_cast<int>(wanted.servers.size()) + 1);
  auto session = make_session(around.io.get_executor(), wanted, wanted.servers, share);
  dashboard(around.io, wanted, std::move(session)).run();
  return exit_code::ok;
}

}  // namespace zkadmin
