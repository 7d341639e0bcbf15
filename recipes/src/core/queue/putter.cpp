#include "queue/putter.hpp"

#include <string_view>
#include <utility>

#include <zkrecipes/transaction.hpp>

#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Bytes of one item in a transaction, besides its path and data: lengths, mode, ACL.
constexpr std::size_t item_overhead = 100;
/// The same for the ticket of an item and the next ticket, both together.
constexpr std::size_t ticket_overhead = 250;

// One item or several, and as many names.
std::span<const new_item> all_of(const new_item& item) { return {&item, 1}; }
std::span<const new_item> all_of(const std::vector<new_item>& items) { return items; }

void add(std::string name, std::string& made) { made = std::move(name); }
void add(std::string name, names& made) { made.push_back(std::move(name)); }

}  // namespace

awaitable<outcome<std::string>> putter::put(new_item item) { return put_all<std::string>(std::move(item)); }

awaitable<outcome<names>> putter::put_many(std::vector<new_item> items) { return put_all<names>(std::move(items)); }

awaitable<outcome<std::string>> putter::put_later(new_item item) {
  auto error = co_await clock_->learn();
  if (error) co_return failed<std::string>(error);
  item.rank += clock_->latest();
  co_return co_await put(std::move(item));
}

awaitable<outcome<names>> putter::put_many_later(std::vector<new_item> items) {
  auto error = co_await clock_->learn();
  if (error) co_return failed<names>(error);
  const auto now = clock_->latest();
  for (auto& each : items) each.rank += now;
  co_return co_await put_many(std::move(items));
}

template <class Made, class Items>
awaitable<outcome<Made>> putter::put_all(Items what) {
  using result_type = outcome<Made>;
  const auto items = all_of(what);
  if (items.empty()) co_return result_type(errc::bad_arguments, {});
  if (!fits(items)) co_return result_type(errc::too_large, {});
  const auto& session = frame_->session;
  const auto deadline = session->retry_deadline();
  auto pause = session->backoff();
  for (;;) {
    auto error = co_await session->wait_connected(nullptr, never);
    if (error) co_return result_type(error, {});
    auto some = items.size();
    auto entered = co_await capacity_->enter(some, true);
    auto& [refusal, pass] = entered;
    if (refusal) co_return result_type(refusal, {});
    auto sent = session->send(request_of(items));
    auto answer = co_await session->answer(sent);
    answer.error = co_await capacity_->settle(answer);
    if (answer.error == errc::no_node) {
      error = co_await session->ensure_path(frame_->where.items);
      if (error) co_return result_type(error, {});
      continue;
    }
    if (answer.error == errc::connection_loss) continue;  // surely not done: try again
    if (answer.throttled && session->now() < deadline) {
      error = co_await session->pause_before_retry(pause, nullptr);
      if (error) co_return result_type(error, {});
      continue;
    }
    Made made;
    const bool is_alone = answer.results.empty();
    for (std::size_t i = 0; i < items.size() && !answer.error; ++i) {
      const auto name = name_of(is_alone ? answer.path : answer.results[i].path);
      if (i + 1 == items.size()) capacity_->on_name(name);
      add(std::string(name), made);
    }
    co_return result_type(answer.error, std::move(made));
  }
}

/// A single item needs a transaction only if the queue has a limit, because of its ticket.
backend::request putter::request_of(std::span<const new_item> items) const {
  const auto& where = frame_->where;
  if (items.size() == 1 && !capacity_->has_limit()) {
    auto create = make_request(opcode::create, where.item(where.marker(items[0].rank)));
    create.data = items[0].data;
    create.mode = create_mode::persistent_sequential;
    return create;
  }
  transaction all;
  for (const auto& each : items) {
    all.create(where.item(where.marker(each.rank)), each.data, create_mode::persistent_sequential);
  }
  capacity_->guard(all);
  return backend::make_multi(all);
}

bool putter::fits(std::span<const new_item> items) const {
  if (items.size() == 1) return !is_too_large(items[0].data);
  std::size_t bytes = 0;
  const auto& path = frame_->where.items;
  const auto ticket = capacity_->has_limit() ? ticket_overhead + 2 * path.size() : 0;
  for (const auto& each : items) bytes += each.data.size() + path.size() + item_overhead + ticket;
  return bytes <= max_data_bytes;
}

}  // namespace zkrecipes::detail
