#include "audit.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <boost/asio.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

asio::awaitable<std::vector<result>> read_results(zkrecipes::session session) {
  auto children = co_await session.async_children(results_path, asio::use_awaitable);
  auto& names = children.names;
  // The sequence numbers have the same width, so the order of the names as text is the order of the numbers, in which
  // the servers accepted the results.
  std::sort(names.begin(), names.end());
  std::vector<result> results;
  for (const auto& name : names) {
    auto node = co_await session.async_get(std::string(results_path) + '/' + name, asio::use_awaitable);
    result each;
    std::istringstream(node.data) >> each.epoch >> each.consumer >> each.number;
    each.accepted_ms = node.stat.ctime;
    results.push_back(std::move(each));
  }
  co_return results;
}

audit check(const std::vector<result>& results, std::uint64_t produced) {
  audit found;
  found.produced = produced;
  std::set<std::uint64_t> seen;
  std::uint64_t highest = 0;
  std::int64_t epoch = 0;
  for (const auto& each : results) {
    if (each.number < 1 || each.number > produced) {
      ++found.unexpected;
      continue;
    }
    if (!seen.insert(each.number).second) ++found.duplicated;
    if (each.number < highest) ++found.out_of_order;
    if (each.epoch < epoch) ++found.overlapping_terms;
    highest = std::max(highest, each.number);
    epoch = std::max(epoch, each.epoch);
  }
  found.processed = seen.size();
  found.lost = produced - seen.size();
  return found;
}

void complete(std::map<std::int64_t, term_history>& terms, const std::vector<result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto& term = terms[results[i].epoch];
    term.epoch = results[i].epoch;
    if (term.leader.empty()) term.leader = results[i].consumer;
    if (i > 0 && results[i].epoch != results[i - 1].epoch) {
      term.gap_ms = static_cast<double>(results[i].accepted_ms - results[i - 1].accepted_ms);
    }
  }
  for (auto& [epoch, term] : terms) {
    if (term.takeover.empty()) term.takeover = "unseen";
    if (term.ended.empty()) term.ended = epoch == terms.rbegin()->first ? "end" : "other";
  }
}

}  // namespace demo
