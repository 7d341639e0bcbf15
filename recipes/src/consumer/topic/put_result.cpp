#include "topic/put_result.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace zkrecipes::detail {

void complete_results(asio::any_io_executor base, std::deque<put_result> results) {
  asio::post(base, [base, results = std::move(results)]() mutable {
    while (!results.empty()) {
      auto first = std::move(results.front());
      results.pop_front();
      try {
        first.whose.complete(first.error, first.number);
      } catch (...) {
        complete_results(base, std::move(results));
        throw;
      }
    }
  });
}

}  // namespace zkrecipes::detail
