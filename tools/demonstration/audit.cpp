#include "audit.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include <boost/asio.hpp>

#include "progress.hpp"
#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

/// Results that travelled in one transaction have the same `czxid`. They are of one term, and their names tell the
/// order: the folders of a term are numbered, and so are the results in a folder.
struct placed {
  std::int64_t czxid = 0;
  std::string path;
  result found;
};

asio::awaitable<void> read_folder(zkrecipes::session session, std::string folder, std::vector<placed>& results) {
  const auto children = co_await session.async_children(folder, asio::use_awaitable);
  for (const auto& name : children.names) {
    placed each;
    each.path = folder + '/' + name;
    const auto node = co_await session.async_get(each.path, asio::use_awaitable);
    std::istringstream(node.data) >> each.found.epoch >> each.found.consumer >> each.found.number >> each.found.shard;
    each.found.accepted_ms = node.stat.ctime;
    each.czxid = node.stat.czxid;
    results.push_back(std::move(each));
  }
}

/// What was found of each message.
class findings {
 public:
  findings(const workload& work, zkrecipes::message_order order, std::int32_t most_attempts)
      : work_(work), order_(order), most_attempts_(most_attempts) {}

  void add(const result& each);
  void add(const zkrecipes::dead_letter& letter);
  audit count();

 private:
  bool known(std::uint64_t number) const { return number >= 1 && number <= work_.messages(); }

  const workload& work_;
  zkrecipes::message_order order_;
  std::int32_t most_attempts_;
  audit found_;
  std::set<std::uint64_t> seen_;
  std::set<std::uint64_t> parked_;
  std::map<std::string, std::uint64_t> highest_;  // of each key; in strict order, of each shard
  std::map<std::uint32_t, std::int64_t> epochs_;  // of each shard
};

void findings::add(const result& each) {
  if (!known(each.number) || each.shard != work_.shard(each.number)) {
    ++found_.unexpected;
    return;
  }
  if (!seen_.insert(each.number).second) ++found_.duplicated;
  if (order_ != zkrecipes::message_order::none) {
    const bool is_strict = order_ == zkrecipes::message_order::strict;
    auto& highest = highest_[is_strict ? std::to_string(each.shard) : work_.key(each.number)];
    if (each.number < highest) ++found_.out_of_order;
    highest = std::max(highest, each.number);
  }
  auto& epoch = epochs_[each.shard];
  if (each.epoch < epoch) ++found_.overlapping_terms;
  epoch = std::max(epoch, each.epoch);
}

void findings::add(const zkrecipes::dead_letter& letter) {
  const auto number = parse_message(letter.data).number;
  ++found_.parked;
  if (!parked_.insert(number).second || !work_.bad().count(number)) ++found_.parked_wrongly;
  if (letter.reason.empty()) ++found_.without_reason;
  if (letter.attempts > most_attempts_) ++found_.attempts_over;
}

audit findings::count() {
  found_.produced = work_.messages();
  found_.processed = seen_.size();
  for (std::uint64_t number = 1; number <= work_.messages(); ++number) {
    if (seen_.count(number) && parked_.count(number)) ++found_.duplicated;
    if (!seen_.count(number) && !parked_.count(number)) ++found_.lost;
  }
  for (const auto& [number, kind] : work_.bad()) {
    if (!parked_.count(number)) ++found_.not_parked;
  }
  return found_;
}

}  // namespace

asio::awaitable<std::vector<result>> read_results(zkrecipes::session session) {
  const std::string top = results_path;
  const auto executor = co_await asio::this_coro::executor;
  const auto folders = co_await session.async_children(top, asio::use_awaitable);
  std::vector<placed> found;
  gathering readers(executor);
  for (const auto& name : folders.names) readers.add(read_folder(session, top + '/' + name, found));
  co_await readers.wait();
  std::sort(found.begin(), found.end(),
            [](const placed& a, const placed& b) { return std::tie(a.czxid, a.path) < std::tie(b.czxid, b.path); });
  std::vector<result> results;
  for (auto& each : found) results.push_back(std::move(each.found));
  co_return results;
}

audit check(const std::vector<result>& results, const std::vector<zkrecipes::dead_letter>& letters,
            const workload& work, zkrecipes::message_order order, std::int32_t most_attempts) {
  findings all(work, order, most_attempts);
  for (const auto& each : results) all.add(each);
  for (const auto& each : letters) all.add(each);
  return all.count();
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
