// A shared gate in round trips. Its lines stand beside those of a lock, which is the same node without a key.
#include "asynchronous.hpp"
#include "operations.hpp"

namespace bench {

namespace {

constexpr const char* gated_key = "key";

zkrecipes::shared_gate gate_at(const zkrecipes::session& over, const std::string& path) {
  return zkrecipes::shared_gate(over, path + "/gate", {.id = "bench", .buckets = 1});
}

/// The node, the bucket and the object are there, as at every call but the first ones.
awaitable<zkrecipes::shared_gate> warm_gate(const zkrecipes::session& over, const std::string& path) {
  auto gate = gate_at(over, path);
  auto pass = co_await gate.async_enter("warm-up", zkrecipes::arrival::first, use_awaitable);
  co_await pass.async_leave(use_awaitable);
  co_return gate;
}

awaitable<void> remove_gate(setting& where, const std::string& path) {
  co_await where.first.async_remove_with_children(path + "/gate", use_awaitable);
}

awaitable<double> free_gate(setting& where, std::string path) {
  auto gate = co_await warm_gate(where.first, path);
  const auto begin = clock::now();
  auto pass = co_await gate.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
  const double took = ms_since(begin);
  co_await pass.async_leave(use_awaitable);
  co_await remove_gate(where, path);
  co_return took;
}

awaitable<double> left_gate(setting& where, std::string path) {
  auto gate = co_await warm_gate(where.first, path);
  auto pass = co_await gate.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
  const auto begin = clock::now();
  co_await pass.async_leave(use_awaitable);
  const double took = ms_since(begin);
  co_await remove_gate(where, path);
  co_return took;
}

/// A caller of the second session that waits behind a pass of the first one.
class gate_line {
 public:
  explicit gate_line(asio::any_io_executor on) : entered_(std::move(on)) {}

  awaitable<void> form(setting& where, const std::string& path) {
    gate_ = co_await warm_gate(where.first, path);
    waiting_ = co_await warm_gate(where.second, path);
    pass_ = co_await gate_.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
    waiting_.async_enter(gated_key, zkrecipes::arrival::first,
                         [this](zkrecipes::error_code, zkrecipes::shared_gate_pass next) {
                           next_ = std::move(next);
                           entered_.note();
                         });
    for (bool stands = false; !stands;) {
      auto there = co_await where.first.async_children(path + "/gate/0", use_awaitable);
      stands = there.names.size() == 2;
    }
    co_await where.second.async_sync(use_awaitable);  // answered behind the look of the one that waits
  }
  awaitable<double> hand_off() {
    const auto begin = clock::now();
    pass_.async_leave(asio::detached);
    const auto end = co_await entered_.wait();
    co_return ms_between(begin, end);
  }
  awaitable<double> decline() {
    const auto begin = clock::now();
    auto [error, none] =
        co_await gate_.async_enter(gated_key, zkrecipes::arrival::first, asio::as_tuple(use_awaitable));
    const double took = ms_since(begin);
    if (error != zkrecipes::errc::declined) throw boost::system::system_error(error, "decline");
    co_return took;
  }
  awaitable<void> leave() {
    co_await pass_.async_leave(use_awaitable);
    if (!next_.error()) co_await next_.async_leave(use_awaitable);
  }

 private:
  moment entered_;
  zkrecipes::shared_gate gate_, waiting_;
  zkrecipes::shared_gate_pass pass_, next_;
};

awaitable<double> gate_hand_off(setting& where, std::string path) {
  gate_line line(where.first.get_executor());
  co_await line.form(where, path);
  const double took = co_await line.hand_off();
  co_await line.leave();
  co_await remove_gate(where, path);
  co_return took;
}

awaitable<double> declined(setting& where, std::string path) {
  gate_line line(where.first.get_executor());
  co_await line.form(where, path);
  const double took = co_await line.decline();
  co_await line.hand_off();
  co_await line.leave();
  co_await remove_gate(where, path);
  co_return took;
}

}  // namespace

std::vector<operation> gate_operations() {
  return {{"enter a free shared gate", "", &free_gate},
          {"leave a shared gate", "", &left_gate},
          {"leave a shared gate until the next caller is in", "", &gate_hand_off},
          {"be declined by a shared gate", "", &declined}};
}

}  // namespace bench
