#include "backend/zookeeper/name_resolutions.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

namespace zkrecipes::backend {

lookup_mailbox::lookup_mailbox() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

lookup_mailbox::~lookup_mailbox() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void lookup_mailbox::put(host_answer what) {
  std::lock_guard lock(mutex_);
  answers_.push_back(std::move(what));
  ::eventfd_write(descriptor_, 1);
}

std::vector<host_answer> lookup_mailbox::take() {
  std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
  return std::exchange(answers_, {});
}

namespace {

namespace asio = boost::asio;

error_code reason_of(int failure, int system_error) {
  switch (failure) {
    case 0: return {};
    case EAI_NONAME:
    case EAI_NODATA: return asio::error::host_not_found;
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return error_code(system_error, boost::system::system_category());
    case EAI_FAMILY:
    case EAI_ADDRFAMILY: return asio::error::address_family_not_supported;
    default: return asio::error::no_recovery;
  }
}

host_answer ask_system(const std::string& host) {
  host_answer all{host, {}, {}};
  addrinfo hints{};
  hints.ai_flags = AI_ADDRCONFIG;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  errno = 0;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  all.error = reason_of(failure, errno);
  all.when = std::chrono::steady_clock::now();
  if (failure) return all;
  for (const auto* each = found; each; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (std::ranges::find(all.addresses, text) == all.addresses.end()) all.addresses.emplace_back(text);
  }
  ::freeaddrinfo(found);
  return all;
}

/// Signals of the process are for the threads of the program.
class without_signals {
 public:
  without_signals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(const without_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

host_lookups& host_lookups::of_process() {
  static auto* const all = new host_lookups;
  return *all;
}

error_code host_lookups::ask(const std::string& host, const std::shared_ptr<lookup_mailbox>& to) {
  std::lock_guard lock(mutex_);
  if (std::exchange(process_, ::getpid()) != ::getpid()) waiting_.clear();
  auto& all = waiting_[host];
  const bool is_under_way = !all.empty();
  std::erase_if(all, [](const auto& each) { return each.expired(); });
  const auto is_it = [&](const auto& each) { return each.lock() == to; };
  if (std::ranges::none_of(all, is_it)) all.push_back(to);
  if (is_under_way) return {};
  try {
    const without_signals blocked;
    std::thread([this, host] { answer(ask_system(host)); }).detach();
  } catch (const std::system_error& failed) {
    waiting_.erase(host);
    return error_code(failed.code().value(), boost::system::system_category());
  } catch (...) {  // for want of memory
    waiting_.erase(host);
    throw;
  }
  return {};
}

void host_lookups::answer(const host_answer& what) {
  std::lock_guard lock(mutex_);
  const auto those = waiting_.extract(what.host);
  if (!those) return;
  for (const auto& each : those.mapped()) {
    if (const auto there = each.lock()) there->put(what);
  }
}

name_resolution::name_resolution(const boost::asio::any_io_executor& strand, std::vector<endpoint> names,
                                 resolve_handler handler)
    : timer_(strand), handler_(std::move(handler)) {
  for (auto& each : names) {
    error_code not_numeric;
    boost::asio::ip::make_address(each.address, not_numeric);
    states_.push_back({!not_numeric, !not_numeric});
    resolved_name one;
    if (!not_numeric) one.addresses.push_back(each);
    one.name = std::move(each);
    all_.push_back(std::move(one));
  }
}

std::vector<std::string> name_resolution::hosts() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!states_[i].is_numeric) all.push_back(all_[i].name.address);
  }
  return all;
}

void name_resolution::on_answer(const host_answer& what) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    auto& each = all_[i];
    if (states_[i].is_answered || each.name.address != what.host) continue;
    states_[i].is_answered = true;
    each.error = what.error;
    for (const auto& address : what.addresses) each.addresses.push_back({address, each.name.port});
  }
}

void name_resolution::give_up(const error_code& why) {
  for (const auto& host : hosts()) on_answer(host_answer{host, {}, why});
}

bool name_resolution::is_done() const { return std::ranges::all_of(states_, &state::is_answered); }

namespace asio = boost::asio;

namespace {

/// A healthy resolver answers within a fraction of it, and whoever waits for a name is told soon that it hangs.
constexpr std::chrono::milliseconds longest_lookup{1'500};

/// An answer that came too late for who had asked serves who asks next: longer than the pause before that.
constexpr std::chrono::seconds longest_memory{5};

}  // namespace

void name_resolutions::resolve(std::vector<endpoint> names, resolve_handler handler) {
  const auto made = std::make_shared<name_resolution>(strand_, std::move(names), std::move(handler));
  under_way_.push_back(made);
  const auto hosts = made->hosts();
  if (!hosts.empty() && !mailbox_) mailbox_ = std::make_shared<lookup_mailbox>();
  if (!hosts.empty() && !wait_for_answers()) made->give_up(errc::no_descriptors);
  for (const auto& host : hosts) {
    const auto failed = made->is_done() ? error_code() : host_lookups::of_process().ask(host, mailbox_);
    if (failed) made->on_answer(host_answer{host, {}, failed});
  }
  if (!made->is_done()) return limit(made);
  asio::post(strand_, [weak = weak_from_this(), made] {
    if (const auto self = weak.lock()) self->finish_done();
  });
}

void name_resolutions::limit(const one& which) {
  which->timer().expires_after(longest_lookup);
  // The context owns what waits, by its timer: when it is destroyed, so is the handler, which keeps its session alive.
  which->timer().async_wait([weak = weak_from_this(), which](error_code cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self) return;
    which->give_up(asio::error::timed_out);
    self->is_one_late_ = true;
    self->finish_done();
  });
}

/// False: the process has no descriptor left for that.
bool name_resolutions::wait_for_answers() {
  if (arrivals_.is_open()) return true;
  const int ours = mailbox_->descriptor() < 0 ? -1 : ::fcntl(mailbox_->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (ours < 0) return false;
  arrivals_.assign(ours);
  arrivals_.async_wait(arrivals_.wait_read, [weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->take_answers();
  });
  return true;
}

void name_resolutions::take_answers() {
  arrivals_.close();
  if (!mailbox_) return;
  is_one_late_ = false;
  const auto oldest = std::chrono::steady_clock::now() - longest_memory;
  for (const auto& answer : mailbox_->take()) {
    if (answer.when < oldest) continue;
    for (const auto& each : under_way_) {
      if (const auto made = each.lock()) made->on_answer(answer);
    }
  }
  finish_done();
}

/// A handler may begin the next lookup.
void name_resolutions::finish_done() {
  const auto self = shared_from_this();
  std::vector<one> done;
  std::erase_if(under_way_, [&](const auto& each) {
    const auto which = each.lock();
    if (which && which->is_done()) done.push_back(which);
    return !which || which->is_done();
  });
  for (const auto& each : done) {
    each->timer().cancel();
    each->finish();
  }
  if (!under_way_.empty()) {
    if (mailbox_) wait_for_answers();
  } else {
    arrivals_.close();
    if (!is_one_late_) mailbox_.reset();
  }
}

void name_resolutions::abandon() {
  for (const auto& each : std::exchange(under_way_, {})) {
    if (const auto made = each.lock()) made->timer().cancel();
  }
  arrivals_.close();
}

}  // namespace zkrecipes::backend
