// The time of a two-phase commit while many decided transactions are kept.
#include "asynchronous.hpp"
#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

namespace {

constexpr int filled_at_once = 200;
constexpr int transactions = 20;
const std::vector<std::string> parties{"a"};

/// A path with transactions that are decided and kept, and a coordinator that leads.
class kept_transactions {
 public:
  kept_transactions(asio::io_context& io, const std::string& hosts, int size)
      : io_(io),
        zk_(io.get_executor(), {.hosts = hosts, .timeout = std::chrono::seconds(30)}),
        all_(zk_, "/commits-" + std::to_string(size)) {
    run_coroutine(io_, fill(size), std::chrono::minutes(5));
    all_.async_coordinate({.id = "bench"},
                          asio::bind_cancellation_slot(stop_.slot(), [this](zkrecipes::error_code) { ended_ = true; }));
    run_coroutine(io_, some());  // afterwards the coordinator leads
  }
  ~kept_transactions() {
    stop_.emit(asio::cancellation_type::total);
    run_until(io_, [this] { return ended_; });
    run_coroutine(io_, close());
  }

  /// Milliseconds from the beginning of a transaction to its outcome, on average.
  double round() {
    const auto begin = clock::now();
    run_coroutine(io_, some());
    return ms_since(begin) / transactions;
  }

 private:
  /// Begins a transaction and decides it at once by a vote against it.
  awaitable<void> keep(std::string id) {
    co_await all_.async_begin(id, parties, "data", use_awaitable);
    co_await all_.async_vote(id, "a", zkrecipes::ballot::no, "", use_awaitable);
  }
  awaitable<bool> fill(int size) {
    auto ex = co_await asio::this_coro::executor;
    for (int done = 0; done < size; done += filled_at_once) {
      int left = std::min(filled_at_once, size - done);
      moment reached(ex);
      for (int i = left; i > 0; --i) {
        asio::co_spawn(ex, keep("kept-" + std::to_string(done + i)), [&](std::exception_ptr failure) {
          if (failure) std::rethrow_exception(failure);
          if (--left == 0) reached.note();
        });
      }
      co_await reached.wait();
    }
    co_return true;
  }
  awaitable<bool> some() {
    for (int i = 0; i < transactions; ++i) {
      const auto id = "new-" + std::to_string(++number_);
      co_await all_.async_begin(id, parties, "data", use_awaitable);
      co_await all_.async_vote(id, "a", zkrecipes::ballot::yes, "", use_awaitable);
      co_await all_.async_outcome(id, use_awaitable);
    }
    co_return true;
  }
  awaitable<bool> close() {
    co_await zk_.async_close(use_awaitable);
    co_return true;
  }

  asio::io_context& io_;
  zkrecipes::session zk_;
  zkrecipes::two_phase_commit all_;
  asio::cancellation_signal stop_;
  bool ended_ = false;
  int number_ = 0;
};

}  // namespace

std::vector<row> commits(const plan& what) {
  const auto& hosts = direct_hosts().front();
  asio::io_context io;
  std::vector<row> rows;
  std::vector<std::unique_ptr<kept_transactions>> all;
  std::vector<int> sizes{0, 1000, 20'000};
  for (int size : sizes) all.push_back(std::make_unique<kept_transactions>(io, hosts, size));
  std::vector<std::vector<double>> samples(sizes.size());
  for (int round = 0; round < what.rounds; ++round) {
    for (std::size_t i = 0; i < sizes.size(); ++i) samples[i].push_back(all[i]->round());
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    rows.push_back({"from begin to outcome, beside " + std::to_string(sizes[i]) + " kept",
                    "ms a transaction, two-phase commit", summary(std::move(samples[i]))});
  }
  return rows;
}

}  // namespace bench
