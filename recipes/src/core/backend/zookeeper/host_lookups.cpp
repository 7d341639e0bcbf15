#include "backend/zookeeper/host_lookups.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

namespace zkrecipes::backend {

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

}  // namespace zkrecipes::backend
