#include "progress.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

constexpr std::size_t growing = 4;  // folders; those before them are full, or of terms that have ended

}  // namespace

progress::progress(zkrecipes::session session) : session_(std::move(session)) {}

asio::awaitable<std::uint64_t> progress::processed() {
  const std::string top = results_path;
  auto children = co_await session_.async_children(top, asio::use_awaitable);
  auto& names = children.names;
  std::sort(names.begin(), names.end());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i + growing >= names.size() || !counts_.count(names[i])) {
      const std::string path = top + '/' + names[i];
      const auto stat = co_await session_.async_exists(path, asio::use_awaitable);
      counts_[names[i]] = static_cast<std::uint64_t>(stat.num_children);
    }
    sum += counts_[names[i]];
  }
  co_return sum;
}

}  // namespace demo
