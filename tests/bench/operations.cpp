#include "operations.hpp"

#include <algorithm>

#include <boost/asio/use_awaitable.hpp>

namespace bench {

using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

awaitable<double> median(setting& where, operation what) {
  const std::string path = "/bench";
  std::vector<double> samples;
  co_await where.first.async_ensure_path(path, use_awaitable);
  co_await where.second.async_sync(use_awaitable);
  for (int i = 0; i <= where.repeat; ++i) {
    const double took = co_await what.sample(where, path);
    if (i > 0) samples.push_back(took / where.round_trip_ms);  // the first sample is the warm-up
  }
  co_await where.first.async_remove(path, zkrecipes::any_version, use_awaitable);
  std::sort(samples.begin(), samples.end());
  co_return samples[samples.size() / 2];
}

}  // namespace

awaitable<std::map<std::string, double>> measure(setting where, std::vector<operation> what) {
  std::map<std::string, double> results;
  for (const auto& each : what) results[each.name] = co_await median(where, each);
  co_return results;
}

}  // namespace bench
