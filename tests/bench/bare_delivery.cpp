#include "bare_delivery.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bare.hpp"
#include "stopwatch.hpp"

namespace bench {

delivery_result bare_delivery_round(const std::string& hosts, const delivery_backlog& backlog, std::size_t at_once) {
  bare_client client(hosts);
  auto names = client.children(delivery_paths::queue);
  std::erase_if(names, [](const std::string& each) { return each.starts_with('_'); });
  std::ranges::sort(names);
  if (names.size() != static_cast<std::size_t>(backlog.count()))
    throw std::runtime_error("bare loop: items are missing");
  delivery_result seen;
  const auto begin = clock::now();
  for (std::size_t done = 0; done < names.size(); done += at_once) {
    const auto end = std::min(names.size(), done + at_once);
    const std::vector<std::string> some(names.begin() + static_cast<std::ptrdiff_t>(done),
                                        names.begin() + static_cast<std::ptrdiff_t>(end));
    client.settle(delivery_paths::record, delivery_paths::queue, delivery_paths::effects, some);
    ++seen.commits;
  }
  seen.rate = backlog.count() / ms_since(begin) * 1000;
  backlog.require_all_effects();
  return seen;
}

}  // namespace bench
