#include "registry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "early_proof.hpp"
#include "process_identity.hpp"

namespace guardian {

namespace {

constexpr std::chrono::milliseconds first_pause{1};

}  // namespace

process_watch::process_watch(const boost::asio::any_io_executor& executor, int pidfd, handler told)
    : pidfd_(executor), timer_(executor), told_(std::move(told)) {
  descriptor copy(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!copy) throw std::system_error(errno, std::generic_category(), "F_DUPFD_CLOEXEC");
  pidfd_.assign(copy.get());
  copy.release();
  wait_for_end();
}

void process_watch::wait_for_end() {
  const auto wait_read = boost::asio::posix::stream_descriptor::wait_read;
  pidfd_.async_wait(wait_read, [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return;
    if (!has_ended(pidfd_.native_handle())) return wait_for_end();
    report("pidfd");
  });
}

void process_watch::look_early(descriptor process_folder, std::chrono::milliseconds longest) {
  folder_ = std::move(process_folder);
  longest_ = longest;
  look_soon();
}

void process_watch::look_soon() {
  if (!folder_) return;
  pause_ = first_pause;
  wait_for_look();
}

void process_watch::wait_for_look() {
  timer_.expires_after(pause_);
  pause_ = std::min(pause_ * 2, longest_);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (alive.expired() || error) return;
    switch (guardian::look_early(folder_.get())) {
      case early_sign::exiting: return report("exiting");
      case early_sign::dumping: return report("dumping");
      case early_sign::none: return wait_for_look();
    }
  });
}

void process_watch::report(std::string_view proof) {
  if (!told_) return;
  const auto told = std::exchange(told_, nullptr);
  boost::system::error_code ignored;
  timer_.cancel();
  pidfd_.cancel(ignored);
  told(proof);
}

namespace {

/// The longest pause between two early looks after the end of a line.
constexpr std::chrono::milliseconds longest_pause{25};

std::string number(std::size_t value) { return std::to_string(value); }

constexpr auto all_users = static_cast<uid_t>(-1);

limits of_all_users(limits most) {
  for (auto* each : {&most.connections, &most.sessions, &most.terms, &most.bytes}) *each *= most.users;
  return most;
}

/// Compares the start, too, because a number is used again. Where the peer is not told, it may be any process but
/// ourselves.
bool is_of(const process_identity& who, const peer& by) {
  return by.pid == 0 ? who.pid != ::getpid() : who == process_identity{by.pid, by.started};
}

}  // namespace

registry::registry(boost::asio::any_io_executor executor, const limits& most, early_looks early, event_log& log,
                   heir told)
    : executor_(std::move(executor)),
      most_(most),
      early_(early),
      log_(log),
      told_(std::move(told)),
      all_users_(std::make_shared<user_account>(all_users, of_all_users(most))) {}

std::shared_ptr<user_account> registry::account_of(uid_t user) {
  drop_idle_accounts();
  auto& account = accounts_[user];
  if (!account) account = std::make_shared<user_account>(user, most_, all_users_);
  return account;
}

void registry::drop_idle_accounts() {
  std::erase_if(accounts_, [](const auto& each) { return each.second.use_count() == 1 && each.second->is_idle(); });
}

registry::admitted registry::admit(descriptor pidfd, const peer& by) {
  try {
    auto found = identify_process(pidfd.get(), by.user);
    if (!found.problem.empty()) return {nullptr, std::move(found.problem)};
    if (found.who && !is_of(*found.who, by)) {
      if (by.trouble) return {nullptr, std::string("the peer could not be looked at: ") + std::strerror(by.trouble)};
      return {nullptr, "the process is not the one that has connected"};
    }
    const auto who = found.who.value_or(process_identity{0, ++nameless_});
    const auto known = watched_.find(who);
    if (known != watched_.end()) return {known->second.process, {}};
    watched which;
    which.process = std::make_shared<held_process>(who, std::move(found.name), std::move(pidfd), account_of(by.user));
    begin_watch(which);
    return {watched_.emplace(who, std::move(which)).first->second.process, {}};
  } catch (const std::exception& failure) {  // such as for want of descriptors
    return {nullptr, std::string("the process can not be watched: ") + failure.what()};
  }
}

void registry::begin_watch(watched& which) {
  const auto who = which.process->who();
  which.watch = std::make_unique<process_watch>(executor_, which.process->pidfd(),
                                                [this, who](std::string_view proof) { end(who, proof); });
  if (!early_.after_end_of_line || who.pid == 0) return;
  auto folder = open_process_folder(who.pid);
  const bool is_its_own = folder && !has_ended(which.process->pidfd());  // so the number was not used again yet
  if (is_its_own && early_.always.count()) which.watch->look_early(std::move(folder), early_.always);
}

void registry::attach(const held_process_ptr& process, process_line& line) {
  const auto known = watched_.find(process->who());
  if (known != watched_.end()) known->second.lines.insert(&line);
}

void registry::detach(const held_process_ptr& process, process_line& line) {
  const auto known = watched_.find(process->who());
  if (known == watched_.end() || known->second.lines.erase(&line) == 0) return;
  auto& which = known->second;
  log_.write_for(process->user(), "line_ended",
                 {{"pid", std::to_string(process->who().pid)},
                  {"name", process->name()},
                  {"sessions", number(process->session_count())},
                  {"terms", number(process->term_count())}});
  if (!which.lines.empty()) return;
  if (process->session_count() == 0) {
    watched_.erase(known);
    return;
  }
  if (!early_.after_end_of_line || process->who().pid == 0) return;
  if (which.watch->looks_early()) return which.watch->look_soon();
  auto folder = open_process_folder(process->who().pid);
  const bool is_its_own = folder && !has_ended(process->pidfd());
  if (is_its_own) which.watch->look_early(std::move(folder), longest_pause);
}

/// The process may have told something just before its death, so its lines are read to their ends first.
void registry::end(const process_identity& who, std::string_view proof) {
  const auto ended = watched_.extract(who);
  const auto& process = ended.mapped().process;
  const auto& lines = ended.mapped().lines;
  for (auto* each : lines) each->drain();
  auto sessions = process->end();
  std::size_t terms = 0;
  for (const auto& each : sessions) terms += each.terms.size();
  log_.write_for(process->user(), "process_ended",
                 {{"pid", std::to_string(who.pid)},
                  {"name", process->name()},
                  {"proof", std::string(proof)},
                  {"sessions", number(sessions.size())},
                  {"terms", number(terms)}});
  for (auto* each : lines) each->close();
  told_(process, std::move(sessions));
}

std::size_t registry::session_count() const {
  std::size_t count = 0;
  for (const auto& [who, each] : watched_) count += each.process->session_count();
  return count;
}

std::size_t registry::term_count() const {
  std::size_t count = 0;
  for (const auto& [who, each] : watched_) count += each.process->term_count();
  return count;
}

std::chrono::milliseconds registry::longest_timeout() const {
  std::chrono::milliseconds longest{0};
  for (const auto& [who, each] : watched_) longest = std::max(longest, each.process->longest_timeout());
  return longest;
}

}  // namespace guardian
