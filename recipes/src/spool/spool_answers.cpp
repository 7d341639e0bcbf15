#include "spool/spool_answers.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace zkrecipes::detail {

void spool_answers::add(spool_put& whose, error_code error, std::uint64_t number) {
  all_.push_back({std::move(whose.caller), error, number});
}

void spool_answers::send(const asio::any_io_executor& base) {
  if (!all_.empty()) complete(base, std::exchange(all_, {}));
}

void spool_answers::complete(const asio::any_io_executor& base, std::deque<answer> all) {
  asio::post(base, [base, all = std::move(all)]() mutable {
    while (!all.empty()) {
      auto first = std::move(all.front());
      all.pop_front();
      try {
        first.whose.complete(first.error, first.number);
      } catch (...) {
        complete(base, std::move(all));
        throw;
      }
    }
  });
}

}  // namespace zkrecipes::detail
