#include "external/external_connection.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/strand.hpp>

#include "backend/begin_once.hpp"
#include "career/term_state.hpp"
#include "format/shown_text.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_shown_bytes = 1'000;
constexpr std::chrono::seconds longest_farewell{1};

/// What a source of the user's says, for error texts and logs: a name, or the words of an exception. Its first 1 000
/// bytes, as `shown_text` shows them.
std::string shown_words(std::string_view said) {
  auto shown = shown_text(said.substr(0, most_shown_bytes));
  if (said.size() > most_shown_bytes) shown += "...";
  return shown;
}

}  // namespace

external_connection::external_connection(external_frame_ptr frame, std::unique_ptr<external_port> to)
    : frame_(std::move(frame)),
      to_(std::move(to)),
      name_(shown_words(to_->name())),
      strand_(asio::make_strand(frame_->session->get_scheduler()->base)),
      log_(guarded(*frame_->session->get_scheduler(), frame_->session->options().log)),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->options.retry.first_pause, frame_->options.retry.max_pause) {}

awaitable<void> external_connection::call_open(self_ptr self, answer_ptr into, std::string place) {
  into->error = co_await self->to_->open(std::move(place));
}

awaitable<void> external_connection::call_receive(self_ptr self, answer_ptr into, std::size_t most) {
  auto received = co_await self->to_->receive(most);
  into->error = received.error;
  into->messages = std::move(received.messages);
}

awaitable<void> external_connection::call_report(self_ptr self, answer_ptr into, std::vector<std::string> settled) {
  into->error = co_await self->to_->report(std::move(settled));
  into->forgotten = self->to_->take_forgotten();
}

awaitable<void> external_connection::call_close(self_ptr self) { co_await self->to_->close(); }

task_ptr external_connection::start(awaitable<void> body) {
  return start_task(*frame_->session->get_scheduler(), strand_, std::move(body), changed_, shared_from_this());
}

void external_connection::reset() {
  leave();
  failure_.clear();
  is_fresh_ = true;
  pause_.reset();
}

/// Nothing of what the source has given, or is about to give, counts any more.
void external_connection::leave() {
  is_open_ = false;
  is_leaving_ = is_used_;
  unreported_.clear();
  forgotten_.clear();
  forgotten_later_.clear();
  for (const auto* each : {&opening_, &receiving_, &reporting_}) cancel(each->run, asio::cancellation_type::terminal);
}

/// Waits for the calls that were cancelled, and closes the source. False: the wait was cancelled.
awaitable<bool> external_connection::shut() {
  while (is_leaving_) {
    const bool is_busy = opening_.is_running() || receiving_.is_running() || reporting_.is_running();
    if (!is_busy && !closing_.is_there()) {
      opening_ = receiving_ = {};
      closing_.run = start(call_close(shared_from_this()));
    }
    if (closing_.is_done()) {
      const auto problem = std::exchange(closing_, {}).run->failure;
      if (problem)
        write_log(log_severity::warning, session_event::operation_failed, {},
                  "close: " + shown_words(text_of(problem)));
      is_leaving_ = is_used_ = false;
    } else {
      const auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return false;
    }
  }
  co_return true;
}

awaitable<error_code> external_connection::ready(std::string place) {
  const auto session = frame_->session;
  while (!is_open_) {
    if (has_failed()) co_return errc::career_failed;
    if (session->over()) co_return session->over();
    bool goes_on = co_await shut();
    if (goes_on && !opening_.is_there() && !std::exchange(is_fresh_, false)) goes_on = co_await session->rest(pause_);
    if (!goes_on) co_return session->over() ? session->over() : make_error_code(asio::error::operation_aborted);
    if (!opening_.is_there()) begin_to_open(place);
    while (opening_.is_running()) {
      const auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
    if (!judge(std::exchange(opening_, {}), "open")) continue;
    is_open_ = true;
    ++number_;
    told_.clear();
    write_log(log_severity::info, session_event::connected, {}, {});
  }
  co_return error_code();
}

void external_connection::begin_to_open(std::string place) {
  is_used_ = true;
  opening_.answer = std::make_shared<external_answer>();
  opening_.run = start(call_open(shared_from_this(), opening_.answer, std::move(place)));
}

void external_connection::ask(std::size_t most) {
  if (!is_open_ || receiving_.is_there()) return;
  asked_ = most;
  receiving_.answer = std::make_shared<external_answer>();
  receiving_.run = start(call_receive(shared_from_this(), receiving_.answer, most));
}

std::vector<external_message> external_connection::take() {
  if (!is_open_ || !receiving_.is_done()) return {};
  const auto ended = std::exchange(receiving_, {});
  auto& messages = ended.answer->messages;
  if (messages.size() > asked_) fail("receive: it has given more messages than it was asked for");
  if (judge(ended, "receive") && !messages.empty()) pause_.reset();
  if (has_failed()) messages.clear();
  std::ranges::move(std::exchange(forgotten_later_, {}), std::back_inserter(forgotten_));
  return std::move(messages);
}

void external_connection::report(std::vector<std::string> settled) {
  if (!is_open_ || settled.empty()) return;
  std::ranges::move(settled, std::back_inserter(unreported_));
  begin_once(has_reporter_, [this] {
    launch_detached(frame_->session->strand(), owning(shared_from_this(), &external_connection::run_reports));
  });
}

/// One call at a time; the next one has all that was settled meanwhile. The source may be opened anew while a call
/// ends, so the number tells whether its result counts.
awaitable<void> external_connection::run_reports() {
  while (is_open_ && !unreported_.empty()) {
    const auto number = number_;
    reporting_.answer = std::make_shared<external_answer>();
    reporting_.run = start(call_report(shared_from_this(), reporting_.answer, std::exchange(unreported_, {})));
    while (reporting_.is_running()) co_await changed_.wait();
    const auto ended = std::exchange(reporting_, {});
    if (!is_open_ || number != number_ || !judge(ended, "report")) continue;
    auto& into = receiving_.is_there() ? forgotten_later_ : forgotten_;
    std::ranges::move(ended.answer->forgotten, std::back_inserter(into));
  }
  has_reporter_ = false;
  changed_.notify();
}

std::vector<std::string> external_connection::take_forgotten() { return std::exchange(forgotten_, {}); }

awaitable<void> external_connection::close() {
  const auto until = frame_->session->now() + longest_farewell;
  while (is_open_ && has_reporter_) {
    const auto why = co_await changed_.wait(until);
    if (why != wake::notified) break;
  }
  leave();
  is_fresh_ = true;
  co_await shut();
}

/// False: the source is to be closed.
bool external_connection::judge(const external_call& ended, const std::string& function) {
  if (ended.run->failure) fail(function + ": " + shown_words(text_of(ended.run->failure)));
  if (has_failed()) return false;
  if (ended.answer->error) give_up(ended.answer->error, function);
  return !ended.answer->error;
}

void external_connection::fail(const std::string& why) {
  failure_ = why;
  write_log(log_severity::error, session_event::operation_failed, errc::career_failed, why);
  leave();
}

/// A reason that repeats itself with each try is told once.
void external_connection::give_up(const error_code& why, const std::string& function) {
  const auto event = is_open_ ? session_event::connection_lost : session_event::connect_failed;
  const auto reason = function + ": " + why.message();
  if (std::exchange(told_, reason) != reason) write_log(log_severity::warning, event, why, function);
  leave();
  is_fresh_ = false;
}

void external_connection::write_log(log_severity severity, session_event event, const error_code& why,
                                    std::string_view detail) {
  if (!log_) return;
  log_({severity, event, name_, {}, {}, why, detail});
}

}  // namespace zkrecipes::detail
