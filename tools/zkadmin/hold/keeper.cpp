#include "hold/keeper.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/intervention.hpp"
#include "cluster/collector.hpp"
#include "cluster/recognize.hpp"
#include "commands/contact.hpp"
#include "hold/hold.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
using zkrecipes::time_budget;

using answer = std::tuple<zkrecipes::error_code, zkrecipes::ownership>;

acquired unpack(answer got) { return {std::get<0>(got), std::move(std::get<1>(got))}; }

/// `wait` gets in line, `try_once` does not wait; each is called to begin, and the other one is not.
template <class Wait, class Try>
asio::awaitable<acquired> take(bool waits, Wait wait, Try try_once) {
  answer got;
  if (waits) {
    got = co_await wait();
  } else {
    got = co_await try_once();
  }
  co_return unpack(std::move(got));
}

asio::awaitable<acquired> take_lock(zkrecipes::lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire(as_result); });
}

asio::awaitable<acquired> take_permit(zkrecipes::semaphore from, bool waits, time_budget budget) {
  const zkrecipes::diagnostic why;
  auto taking = take(
      waits, [from, budget, why]() mutable { return from.async_acquire_for(1, budget, why, as_result); },
      [from, why]() mutable { return from.async_try_acquire(1, why, as_result); });
  auto result = co_await std::move(taking);
  result.detail = why.text();
  co_return result;
}

asio::awaitable<acquired> take_reading(zkrecipes::read_write_lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_read_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire_read(as_result); });
}

asio::awaitable<acquired> take_writing(zkrecipes::read_write_lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_write_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire_write(as_result); });
}

asio::awaitable<acquired> take_leadership(zkrecipes::election from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_campaign_for(budget, as_result); },
      [from]() mutable { return from.async_try_campaign(as_result); });
}

asio::awaitable<acquired> begin(zkrecipes::session over, std::string path, const hold_options& how,
                                time_budget budget) {
  zkrecipes::line_options line;
  line.id = how.id;
  zkrecipes::election_options candidate;
  candidate.id = how.id;
  switch (how.kind) {
    case hold_kind::lock: break;
    case hold_kind::read: return take_reading({over, path, line}, how.waits, budget);
    case hold_kind::write: return take_writing({over, path, line}, how.waits, budget);
    case hold_kind::semaphore: return take_permit({over, path, how.permits, line}, how.waits, budget);
    case hold_kind::leadership: return take_leadership({over, path, candidate}, how.waits, budget);
  }
  return take_lock({over, path, line}, how.waits, budget);
}

}  // namespace

asio::awaitable<acquired> acquire(zkrecipes::session over, std::string path, const hold_options& how,
                                  time_budget budget) {
  try {
    return begin(std::move(over), std::move(path), how, budget);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

const char* name_of(hold_kind kind) noexcept {
  switch (kind) {
    case hold_kind::semaphore: return "permit";
    case hold_kind::leadership: return "leadership";
    default: return "lock";
  }
}

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::errc;
using zkrecipes::lease_clock;

/// While it waits it outlasts failures of the ensemble; where it is not to wait, it does not.
zkrecipes::session open_session(asio::io_context& io, const settings& wanted, const hold_options& how,
                                zkrecipes::acl access = {}) {
  auto options = to_session_options(wanted, wanted.servers);
  options.default_acl = std::move(access);
  options.lease = zkrecipes::lease_mode::strict;
  options.timeout = how.session_timeout;
  options.retry.limit = how.waits ? 0ms : wanted.timeout;
  try {
    return {io.get_executor(), std::move(options)};
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

/// The place in line was lost to a failure of the ensemble or the network, and not to somebody's decision.
bool is_accident(const zkrecipes::error_code& error) {
  return error == errc::lease_lapsed || error == errc::session_expired;
}

recipe recipe_of_hold(hold_kind kind) {
  switch (kind) {
    case hold_kind::lock: return recipe::lock;
    case hold_kind::read:
    case hold_kind::write: return recipe::read_write_lock;
    case hold_kind::semaphore: return recipe::semaphore;
    case hold_kind::leadership: return recipe::election;
  }
  return recipe::none;
}

bool asks_for_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT; }

std::string text_of(const std::vector<zkrecipes::connection_failure>& failures) {
  std::string text;
  for (const auto& each : failures) append_to_list(text, each.server + ": " + zkrecipes::to_string(each.reason));
  return text.empty() ? "no answer" : text;
}

}  // namespace

keeper::keeper(surroundings& around, const settings& wanted, std::string path, hold_options how,
               const keeper_start& start)
    : around_(around),
      wanted_(wanted),
      path_(std::move(path)),
      how_(std::move(how)),
      start_(start),
      session_(open_session(around.io, wanted, how_)),
      alarm_(around.io),
      line_(around.io, asio::local::stream_protocol(), start.line),
      ends_(around.io, SIGCHLD) {}

int keeper::run() {
  asio::co_spawn(around_.io, hear_signals(), asio::detached);
  asio::co_spawn(around_.io, notice_ends(), asio::detached);
  asio::co_spawn(around_.io, work(), [this](std::exception_ptr error, int status) {
    error_ = error;
    status_ = status;
  });
  while (!status_) around_.io.run_one();
  if (!held_.error()) confirm_release();
  close_session(around_.io, session_, std::chrono::steady_clock::now() + 1s);
  if (error_) std::rethrow_exception(error_);
  return *status_;
}

asio::awaitable<int> keeper::work() {
  co_await connect();
  waits_since_ = lease_clock::now();
  if (!co_await take_over_rights()) co_return status_without_command({errc::timed_out, {}});
  for (;;) {
    const auto status = co_await hold();
    if (status) co_return *status;
  }
}

/// The stream ends when the front process does.
asio::awaitable<void> keeper::hear_signals() {
  for (;;) {
    const auto got = co_await asio::async_read(line_, asio::buffer(heard_), as_result);
    if (std::get<0>(got)) break;
    obey(heard_[0]);
  }
  is_front_gone_ = true;
  if (tenure_) tenure_->abandon();
  if (!command_) stop_waiting();
}

asio::awaitable<void> keeper::notice_ends() {
  for (;;) {
    const auto got = co_await ends_.async_wait(as_result);
    if (std::get<0>(got)) co_return;
    alarm_.ring();
  }
}

asio::awaitable<void> keeper::connect() {
  const auto got = co_await session_.async_connected_for(wanted_.timeout, as_result);
  const auto error = std::get<0>(got);
  if (error == errc::timed_out)
    throw failure(exit_code::unreachable, "no session within " + short_duration(wanted_.timeout) + ": " +
                                              printable(text_of(session_.status().failures)));
  if (error != errc::closed) check(error, "connecting");
}

/// The path is looked at first. What the recipe makes has the ACL of what is there: else everybody could delete our
/// place in a closed line. Another session is opened for that, because a session has one ACL for all that it makes.
/// False: the time for all is over.
asio::awaitable<bool> keeper::take_over_rights() {
  asio::steady_timer limit(around_.io);
  if (how_.wait_limit) {
    limit.expires_after(*how_.wait_limit);
    limit.async_wait([this](const auto& cancelled) {
      if (!cancelled && reads_rights_) is_late_ = true, stop_waiting();
    });
  }
  zkrecipes::acl access;
  reads_rights_ = true;
  try {
    access = co_await nearest_acl(session_, path_);
    co_await require_own_kind();
  } catch (const failure&) {
    if (!is_late_ && !is_to_end()) throw;
  }
  reads_rights_ = false;
  if (is_late_ || access.empty()) co_return !is_late_;
  co_await session_.async_close(as_result);
  if (is_to_end()) co_return true;
  session_ = open_session(around_.io, wanted_, how_, std::move(access));
  co_await connect();
  co_return true;
}

/// Throws `failure` if the path is that of another recipe: our place would stand among its nodes. What can not be read
/// tells nothing. Lines with the names of several recipes are left to the recipe itself.
asio::awaitable<void> keeper::require_own_kind() {
  const auto node = co_await session_.async_get(path_, as_result);
  if (std::get<0>(node)) co_return;
  auto found = recipe_of(std::get<1>(node).data);
  if (found == recipe::none) {
    const auto children = co_await session_.async_children(path_, as_result);
    if (!std::get<0>(children) && recipe_among(std::get<1>(children).names) == recipe::queue) found = recipe::queue;
  }
  if (found == recipe::none || found == recipe_of_hold(how_.kind)) co_return;
  throw failure(exit_code::error,
                printable(path_) + " is that of another recipe (" + to_string(found) + "): use another path");
}

/// Holds once and runs the command. Without a status the caller gets in line again.
asio::awaitable<std::optional<int>> keeper::hold() {
  auto got = co_await get_in();
  if (got.error) co_return status_without_command(got);
  held_ = std::move(got.held);
  const auto say = [this](const std::string& what) { print(what); };
  tenure present(session_, held_, {how_.grace, session_.status().timeout}, alarm_, start_.last_resort, say);
  while (!held_.error() && !is_to_end() && !present.may_begin()) co_await alarm_.wait_until(lease_clock::now() + 10ms);
  if (is_to_end()) {
    held_ = zkrecipes::ownership();  // it ends with the session, which is being closed
    co_return status_of_end();
  }
  if (held_.error()) co_return std::nullopt;
  const auto end = co_await run_command(present);
  const int status = status_of(end);
  if (end == tenure_end::lost) held_ = zkrecipes::ownership();  // it is over, or goes in the background
  if (end == tenure_end::finished || end == tenure_end::abandoned || !how_.again) co_return status;
  if (is_to_end()) co_return status_of_end();
  command_.reset();
  co_await held_.async_release(as_result);
  print("getting in line again");
  co_return std::nullopt;
}

/// After an accident, once more, within the time given for all.
asio::awaitable<acquired> keeper::get_in() {
  const auto begin = std::exchange(waits_since_, std::nullopt).value_or(lease_clock::now());
  for (;;) {
    auto budget = lease_clock::duration::max();
    if (how_.wait_limit) budget = std::max<lease_clock::duration>(begin + *how_.wait_limit - lease_clock::now(), 0ns);
    auto got = co_await acquire(session_, path_, how_, budget);
    if (!is_accident(got.error)) co_return got;
    print("the place in line was lost (" + got.error.message() + "): getting in line again");
  }
}

void keeper::start_command(tenure& present) {
  present.prepare();
  try {
    command_.emplace(command_plan{how_.words, environment_of_command(), start_.group, start_.signals, is_stopped_});
  } catch (...) {
    start_.last_resort.clear();
    throw;
  }
}

asio::awaitable<tenure_end> keeper::run_command(tenure& present) {
  start_command(present);
  tenure_ = &present;
  const auto end = co_await present.run(*command_);
  tenure_ = nullptr;
  if (const int error = command_->execution_error())
    print("cannot execute " + printable(how_.words.front()) + ": " + std::strerror(error));
  co_return end;
}

/// A command gets what it has not got from the terminal itself. Where there is none yet, most signals end the waiting.
/// One that asks for an end while the command is being ended is not lost: after it there is no further command.
void keeper::obey(passed_signal got) {
  if (got.number == SIGTSTP) is_stopped_ = true;
  if (got.number == SIGCONT) is_stopped_ = false;
  if (command_) {
    if (!got.is_of_terminal) command_->send(got.number);
    if (asks_for_end(got.number) && tenure_ && tenure_->is_ending()) signal_ = got.number;
  } else if (got.number != SIGTSTP && got.number != SIGCONT && got.number != SIGWINCH) {
    signal_ = got.number;
    stop_waiting();
  }
}

/// Closes the session: every operation that is waited for completes with `closed`, and the place in line goes.
void keeper::stop_waiting() {
  session_.async_close([](const auto&) {});
}

/// If `is_to_end`.
int keeper::status_of_end() const {
  return signal_ != 0 ? to_int(hold_status::by_signal) + signal_ : to_int(hold_status::failed);
}

int keeper::status_without_command(const acquired& got) const {
  if (signal_ != 0) return status_of_end();
  if (got.error == errc::busy || got.error == errc::timed_out) {
    print(got.error == errc::busy ? "another client has it, or is in line" : "it was not free in time");
    return to_int(got.error == errc::busy ? hold_status::taken : hold_status::timed_out);
  }
  if (got.error == errc::node_removed || got.error == errc::revoked) {
    print(got.error == errc::revoked ? "another client has asked for our place in line, and the grace is over"
                                     : "another client has removed our place in line");
    return to_int(hold_status::asked);
  }
  if (is_front_gone_) return status_of_end();
  if (!got.detail.empty()) throw failure(exit_code::error, printable(path_ + ": " + got.detail));
  check(got.error, "getting in line at " + path_);
  return to_int(hold_status::failed);
}

int keeper::status_of(tenure_end end) const {
  switch (end) {
    case tenure_end::finished: break;
    case tenure_end::lost: return to_int(hold_status::lost);
    case tenure_end::asked: return to_int(hold_status::asked);
    case tenure_end::abandoned: return to_int(hold_status::failed);
  }
  return *command_->status();
}

/// Gives it up, and looks until its node has gone.
asio::awaitable<void> keeper::release(std::shared_ptr<bool> is_confirmed) {
  const auto node = held_.path();
  const auto released = co_await held_.async_release(as_result);
  if (std::get<0>(released)) co_return;
  asio::steady_timer pause(around_.io);
  while (!*is_confirmed) {
    const auto seen = co_await session_.async_exists(node, as_result);
    const auto error = std::get<0>(seen);
    if (error == errc::closed) co_return;
    *is_confirmed = error == errc::no_node || error == errc::session_expired;
    pause.expires_after(*is_confirmed ? 0ms : 20ms);
    co_await pause.async_wait(as_result);
  }
}

void keeper::confirm_release() {
  const auto is_confirmed = std::make_shared<bool>(false);
  const auto is_over = std::make_shared<bool>(false);
  asio::co_spawn(around_.io, release(is_confirmed), [is_over](std::exception_ptr) { *is_over = true; });
  run_until(around_.io, std::chrono::steady_clock::now() + wanted_.timeout, [is_over] { return *is_over; });
  if (!*is_confirmed)
    print("note: the servers have not confirmed that it is given up; it ends with the session, within " +
          short_duration(how_.session_timeout));
}

std::vector<std::string> keeper::environment_of_command() const {
  const std::pair<const char*, std::string> ours[] = {
      {"ZKADMIN_PATH", path_},
      {"ZKADMIN_NODE", held_.path()},
      {"ZKADMIN_TOKEN", std::to_string(held_.token())},
      {"ZKADMIN_SESSION", hexadecimal(static_cast<std::uint64_t>(session_.status().session_id))}};
  std::vector<std::string> all;
  for (const auto& [name, value] : ours) all.push_back(name + ("=" + value));
  for (char** each = environ; *each; ++each) {
    const std::string_view setting(*each);
    const auto name = setting.substr(0, setting.find('='));
    const auto is_same = [name](const auto& our) { return our.first == name; };
    if (std::none_of(std::begin(ours), std::end(ours), is_same)) all.emplace_back(setting);
  }
  return all;
}

void keeper::print(const std::string& message) const {
  around_.err << "zkadmin: " << name_of(how_.kind) << ' ' << printable(path_) << ": " << message << std::endl;
}

}  // namespace zkadmin
