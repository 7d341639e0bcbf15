#include "progress.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

gathering::gathering(asio::any_io_executor where) : done_(std::move(where)) {
  done_.expires_at(asio::steady_timer::time_point::max());
}

void gathering::add(asio::awaitable<void> part) {
  ++pending_;
  asio::co_spawn(done_.get_executor(), std::move(part), [this](std::exception_ptr failure) {
    if (failure) failure_ = failure;
    if (--pending_ == 0) done_.cancel();
  });
}

asio::awaitable<void> gathering::wait() {
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  if (pending_) co_await done_.async_wait(token);
  if (failure_) std::rethrow_exception(failure_);
}

namespace {

/// So many folders of each shard. Those before them are full, or of terms that have ended.
constexpr std::size_t growing = 2;

/// The part of a folder's name that all folders of a shard have in common.
std::string shard_of(const std::string& name) { return name.substr(0, name.find('-')); }

asio::awaitable<void> count(zkrecipes::session session, std::string path, std::uint64_t& children) {
  const auto stat = co_await session.async_exists(path, asio::use_awaitable);
  children = static_cast<std::uint64_t>(stat.num_children);
}

}  // namespace

progress::progress(zkrecipes::session session) : session_(std::move(session)) {}

asio::awaitable<std::uint64_t> progress::processed() {
  const std::string top = results_path;
  const auto executor = co_await asio::this_coro::executor;
  auto children = co_await session_.async_children(top, asio::use_awaitable);
  auto& names = children.names;
  std::sort(names.begin(), names.end());
  gathering counts(executor);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_growing = i + growing >= names.size() || shard_of(names[i + growing]) != shard_of(names[i]);
    if (is_growing || !counts_.count(names[i])) counts.add(count(session_, top + '/' + names[i], counts_[names[i]]));
  }
  co_await counts.wait();
  std::uint64_t sum = 0;
  for (const auto& [name, number] : counts_) sum += number;
  co_return sum;
}

}  // namespace demo
