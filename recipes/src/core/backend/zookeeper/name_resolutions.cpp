#include "backend/zookeeper/name_resolutions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include "backend/zookeeper/host_lookups.hpp"

namespace zkrecipes::backend {

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
