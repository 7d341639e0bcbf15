#include "bare_delivery.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bare.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace {

using names = std::vector<std::string>;

names items_of(bare_client& client, const delivery_backlog& backlog) {
  auto all = client.children(delivery_paths::queue);
  std::erase_if(all, [](const std::string& each) { return each.starts_with('_'); });
  std::ranges::sort(all);
  if (all.size() != static_cast<std::size_t>(backlog.count())) throw std::runtime_error("bare loop: no such backlog");
  return all;
}

names part_of(const names& all, std::size_t first, std::size_t most) {
  const auto begin = std::min(first, all.size());
  const auto end = std::min(begin + most, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

delivery_result bare_delivery_round(const std::string& hosts, const delivery_backlog& backlog,
                                    const bare_delivery& how) {
  bare_client client(hosts);
  const auto all = items_of(client, backlog);
  delivery_result seen;
  const auto begin = clock::now();
  for (std::size_t done = 0; done < all.size(); done += how.at_once) {
    const auto next = how.reads ? part_of(all, done + how.at_once, how.at_once) : names();
    client.settle(delivery_paths::record, delivery_paths::queue, delivery_paths::effects,
                  part_of(all, done, how.at_once), next);
    ++seen.commits;
  }
  seen.rate = backlog.count() / ms_since(begin) * 1000;
  backlog.require_all_effects();
  return seen;
}

}  // namespace bench
