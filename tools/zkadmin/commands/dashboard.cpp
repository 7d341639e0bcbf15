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

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit_reader.hpp"
#include "cluster/live_place.hpp"
#include "cluster/prober.hpp"
#include "cluster/queue_reader.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/topic_reader.hpp"
#include "commands/bounded.hpp"
#include "commands/commands.hpp"
#include "commands/reading_pace.hpp"
#include "screen/model.hpp"
#include "screen/render.hpp"
#include "terminal/input.hpp"
#include "terminal/terminal.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto search_interval = 1s;        // Least pause between searches for new recipes.
constexpr auto shortest_interval = 100ms;   // Between two drawings of changes.
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
        recipes_(std::move(session), wanted.root, {[this] { note_change(); }, [this] { show_before_loss(); }},
                 wanted.interval),
        probes_(std::make_shared<prober>(io.get_executor(), wanted.servers, wanted.timeout)),
        servers_(not_asked(wanted.servers)),
        recipes_timer_(io),
        clock_timer_(io),
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
    read_unwatched();
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
    signals_.cancel();
    input_.cancel();
  }

  void end_rests() {
    for (auto& each : server_timers_) each.cancel();
    recipes_timer_.cancel();
    wake_readers();
  }

  void wake_readers() {
    for (auto& each : reader_timers_) each.cancel();
  }

  void apply(const event& what) {
    if (is_over_) return;
    const auto now = std::chrono::system_clock::now();
    const auto shown = state_.shown.which;
    const bool was_known = state_.seen.elections.has_value();
    const effect wish = update(state_, what, now);
    if (state_.shown.which != shown || state_.seen.elections.has_value() != was_known) wake_readers();
    if (wish == effect::quit) is_over_ = true;
    if (wish == effect::refresh) {
      ++refreshes_;
      recipes_.want_all();
      end_rests();
    }
    draw();
  }

  void draw() {
    const view_options options{wanted_.ascii || !terminal::is_unicode(), utc_offset(state_.now)};
    terminal_->draw(render(state_, terminal_->width(), terminal_->height(), options));
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
        auto elections = co_await recipes_.elections(deadline::max());
        apply(elections_seen{std::move(elections)});
        auto groups = co_await recipes_.groups(deadline::max());
        apply(groups_seen{std::move(groups)});
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
    const auto earliest = begin + std::min<std::chrono::nanoseconds>(shortest_interval, wanted_.interval);
    recipes_timer_.expires_at(earliest);
    if (std::chrono::steady_clock::now() < earliest) co_await recipes_timer_.async_wait(as_result);
  }

  void note_change() {
    if (std::exchange(has_changed_, true)) return;
    recipes_timer_.cancel();
  }

  /// An election changes again before its last state has been drawn: the events are not to miss that.
  void show_before_loss() {
    if (!state_.paused && state_.surveyed_at != wall_time{}) apply(elections_seen{recipes_.known_elections()});
  }

  /// The kinds of recipes that nothing watches.
  void read_unwatched() {
    begin(read_on(page::topics, [this] { return read_kind<topic_status, topics_seen>(recipe::topic, read_topic); }));
    begin(read_on(page::commits,
                  [this] { return read_kind<commit_status, commits_seen>(recipe::two_phase_commit, read_commit); }));
    begin(read_on(page::recipes, [this] { return read_others(); }));
    if (wanted_.queues.empty()) return;
    begin(read_on(page::recipes, [this] { return read_kind<queue_status, queues_seen>(recipe::none, read_queue); }));
  }

  /// Reads a kind again and again. Before the first search nothing is known of it, which is not the same as that there
  /// are none.
  asio::awaitable<void> read_on(page where, std::function<asio::awaitable<void>()> read) {
    auto& timer = reader_timers_.emplace_back(io_);
    reading_pace pace(wanted_.interval);
    while (!is_over_) {
      const auto begin = reading_pace::clock::now();
      const auto refreshes = refreshes_;
      const bool is_shown = state_.shown.which == where || state_.shown.which == page::problems;
      if (state_.seen.elections && pace.is_due(begin, is_shown, refreshes)) {
        co_await read();
        pace.read(begin, reading_pace::clock::now(), refreshes);
      }
      co_await rest(timer, wanted_.interval);
    }
  }

  /// All kinds without a survey of their own, but for the queues that are declared.
  asio::awaitable<void> read_others() {
    const auto outline = recipes_.outline();
    recipe_survey all{{}, outline.notes, outline.complete, outline.refused};
    std::vector<recipe_site> sites;
    for (const auto which : other_recipes())
      for (const auto& path : recipes_.found(which)) sites.push_back({which, path, false});
    declare(sites, wanted_.recipes);
    const auto& queues = wanted_.queues;
    std::erase_if(sites, [&queues](const recipe_site& each) {
      return each.which == recipe::queue && std::find(queues.begin(), queues.end(), each.path) != queues.end();
    });
    const std::function<void(const recipe_site&)> is_gone = [this](const recipe_site& gone) {
      recipes_.forget(gone.which, gone.path);
    };
    co_await read_sites(session_, sites, some_participants, deadline::max(), all, is_gone);
    if (session_.status().state == zkrecipes::session_state::connected) apply(recipes_seen{std::move(all)});
  }

  /// Without a connection what was read before stays on the screen.
  template <class Status, class Seen>
  asio::awaitable<void> read_kind(recipe which, reader<Status> read) {
    const bool is_declared = which == recipe::none;
    survey<Status> all;
    if (!is_declared) {
      const auto outline = recipes_.outline();
      all = {{}, outline.notes, outline.complete, outline.refused};
    }
    const path_hook is_gone = [&](const std::string& path) {
      if (!is_declared) return recipes_.forget(which, path);
      all.complete = false;
      all.notes.push_back({path, "there is no queue"});
    };
    const auto paths = is_declared ? wanted_.queues : recipes_.found(which);
    const reading_options how{true, is_gone};  // a temporary would be destroyed twice (GCC 12)
    co_await read_each<Status>(session_, paths, read, deadline::max(), all, how);
    if (session_.status().state == zkrecipes::session_state::connected) apply(Seen{std::move(all)});
  }

  asio::awaitable<void> read_keys() {
    while (!is_over_) {
      co_await input_.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
      if (is_over_) co_return;
      while (const auto typed = terminal_->read_key()) apply(key_pressed{*typed});
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
      apply(resized{terminal_->width(), terminal_->height()});
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
  std::deque<asio::steady_timer> reader_timers_;
  asio::steady_timer clock_timer_;
  asio::posix::stream_descriptor input_;
  asio::signal_set signals_;
  std::optional<terminal> terminal_;  // Made when the signals are ours: then ncurses does not handle them.
  model state_;
  unsigned refreshes_ = 0;
  bool has_changed_ = false;  // Since the last refresh began.
  bool is_over_ = false;
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
