// Barriers in round trips.
#include "asynchronous.hpp"
#include "operations.hpp"

namespace bench {

namespace {

awaitable<void> until_children(zkrecipes::session zk, std::string path, std::size_t count) {
  std::int64_t seen = 0;
  for (;;) {
    auto all = co_await zk.async_children_change(path, seen, use_awaitable);
    if (all.names.size() == count) co_return;
    seen = all.stat.pzxid;
  }
}

/// The time to enter as the second of two members, while the first one waits.
awaitable<double> last_one_in(setting& where, std::string path) {
  zkrecipes::double_barrier mine(where.first, path, 2);
  zkrecipes::double_barrier theirs(where.second, path, 2);
  zkrecipes::attendance other;
  moment let_in(where.first.get_executor());
  theirs.async_enter(
      asio::bind_executor(where.first.get_executor(), [&](const zkrecipes::error_code&, zkrecipes::attendance inside) {
        other = std::move(inside);
        let_in.note();
      }));
  co_await until_children(where.first, path, 1);
  co_await where.second.async_sync(use_awaitable);
  const auto begin = clock::now();
  auto inside = co_await mine.async_enter(use_awaitable);
  const double took = ms_since(begin);
  co_await let_in.wait();
  other.async_leave(asio::detached);
  co_await inside.async_leave(use_awaitable);
  co_await until_children(where.first, path, 0);
  co_return took;
}

}  // namespace

std::vector<operation> barrier_operations() {
  return {{"double barrier enter, last one in", "double barrier enter, last one in", &last_one_in}};
}

}  // namespace bench
