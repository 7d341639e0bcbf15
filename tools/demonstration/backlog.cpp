#include "backlog.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/queue.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

class queue_backlog : public backlog {
 public:
  explicit queue_backlog(const zkrecipes::session& over) : queue_(over, queue_path) {}

  asio::awaitable<std::optional<std::uint64_t>> lag() override {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const auto seen = co_await queue_.async_size(token);
    if (std::get<0>(seen)) co_return std::nullopt;
    co_return std::get<1>(seen);
  }
  asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    co_return co_await queue_.async_dead_letters(asio::use_awaitable);
  }

 private:
  zkrecipes::queue queue_;
};

}  // namespace

std::unique_ptr<backlog> make_queue_backlog(const zkrecipes::session& over) {
  return std::make_unique<queue_backlog>(over);
}

}  // namespace demo
