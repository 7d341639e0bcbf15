#include "cluster/letter_change.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/intervention.hpp"
#include "failure.hpp"
#include "queue/capacity.hpp"
#include "queue/dead_letter_folder.hpp"
#include "queue/queue_layout.hpp"
#include "text.hpp"
#include "topic/topic_letters.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;

constexpr std::size_t most_letters_in_step = 50;
constexpr std::size_t most_bytes_in_step = 256 * 1024;

/// The kinds of queues that may have their letters in this folder.
std::vector<detail::queue_layout> layouts_of(const letter_list& from) {
  if (from.is_apart) return {{detail::queue_kind::priority, from.path}};
  return {{detail::queue_kind::fifo, from.path}, {detail::queue_kind::delayed, from.path}};
}

/// The same transaction as that of the library. Nothing: the item is none of this queue.
std::optional<zkrecipes::transaction> requeue_of(const letter_list& from, const letter_status& each) {
  if (!from.group.empty())
    return detail::revival_of(detail::source_layout{from.path}, from.shards, from.group, each.letter, each.version);
  for (const auto& where : layouts_of(from)) {
    auto revival = detail::revival_of(where, each.letter, each.version);
    if (revival) return revival;
  }
  return std::nullopt;
}

zkrecipes::transaction with_access(zkrecipes::transaction requests, const zkrecipes::acl& access) {
  zkrecipes::transaction made;
  for (auto& each : std::move(requests).operations()) {
    if (each.type == zkrecipes::operation::kind::create && each.acl.empty()) each.acl = access;
    made.add(std::move(each));
  }
  return made;
}

zkrecipes::transaction drop_of(const letter_list& from, const letter_status& each) {
  return zkrecipes::transaction().remove(detail::join(from.folder, each.letter.name), each.version);
}

std::size_t bytes_of(const zkrecipes::transaction& requests) {
  std::size_t bytes = 0;
  for (const auto& each : requests.operations()) bytes += each.path.size() + each.data.size();
  return bytes;
}

/// Makes steps that are neither long nor large.
class step_maker {
 public:
  void add(zkrecipes::transaction requests, seen_node letter) {
    const auto more = bytes_of(requests);
    const bool is_full =
        !steps_.empty() && (steps_.back().letters == most_letters_in_step || bytes_ + more > most_bytes_in_step);
    if (steps_.empty() || is_full) {
      steps_.emplace_back();
      bytes_ = 0;
    }
    steps_.back().requests.append(std::move(requests));
    ++steps_.back().letters;
    steps_.back().same.push_back(std::move(letter));
    bytes_ += more;
  }
  std::vector<letter_plan::step> take() { return std::move(steps_); }

 private:
  std::vector<letter_plan::step> steps_;
  std::size_t bytes_ = 0;
};

/// A list of names that is longer can not be read by Java clients, and the library refuses further puts.
void require_room(const letter_list& from, std::size_t more) {
  if (!from.group.empty() || more == 0) return;
  const auto most = zkrecipes::queue_options().max_list_bytes;
  if (detail::list_bytes(layouts_of(from).back(), static_cast<std::size_t>(from.items) + more) > most)
    throw failure(exit_code::error,
                  printable(from.path) + " has no room for " + std::to_string(more) + " more items: nothing was sent");
}

}  // namespace

letter_plan plan_letters(const letter_list& from, letter_fate fate) {
  if (from.is_outside && fate == letter_fate::requeue)
    throw failure(exit_code::error, printable(from.path) +
                                        " has its messages outside of ZooKeeper, so zkadmin can not put any there: "
                                        "nothing was sent");
  letter_plan plan;
  step_maker steps;
  for (const auto& each : from.letters) {
    auto requests = fate == letter_fate::drop ? std::optional(drop_of(from, each)) : requeue_of(from, each);
    const bool is_held = fate == letter_fate::requeue && each.is_parked;
    plan.parked += is_held ? 1 : 0;
    plan.strange += !is_held && !requests ? 1 : 0;
    if (is_held || !requests) continue;
    steps.add(with_access(std::move(*requests), from.access),
              {detail::join(from.folder, each.letter.name), each.czxid});
    ++plan.letters;
  }
  if (fate == letter_fate::requeue) require_room(from, plan.letters);
  plan.steps = steps.take();
  return plan;
}

std::string to_text(const letter_plan& plan, std::size_t most_steps) {
  std::string text;
  const auto count = plan.steps.size();
  for (std::size_t i = 0; i < std::min(count, most_steps); ++i) {
    if (count > 1) text += "transaction " + std::to_string(i + 1) + " of " + std::to_string(count) + "\n";
    text += to_text(plan.steps[i].requests);
  }
  if (count > most_steps) {
    const auto more = count - most_steps;
    text += "... and " + std::to_string(more) + (more == 1 ? " more transaction\n" : " more transactions\n");
  }
  return text;
}

asio::awaitable<void> send_letters(zkrecipes::session session, letter_plan plan, letter_result& result) {
  for (auto& each : plan.steps) {
    const auto identity = co_await look_again(session, std::move(each.same));
    result.is_changed = identity != node_identity::same;
    if (result.is_changed) co_return;
    auto outcome = co_await session.async_commit(std::move(each.requests), as_result);
    const zkrecipes::error_code error = std::get<0>(outcome);
    result.is_changed = error == errc::no_node || error == errc::bad_version;
    if (result.is_changed) co_return;
    check(error, "sending the requests");
    result.done += each.letters;
  }
}

}  // namespace zkadmin
