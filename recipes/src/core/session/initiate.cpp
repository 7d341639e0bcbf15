#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <zkrecipes/detail/initiate.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

void call_later(asio::any_io_executor on, asio::any_completion_handler<void()> what) {
  asio::post(on, std::move(what));
}

void call_later(asio::any_completion_executor on, asio::any_completion_handler<void()> what) {
  auto target = asio::prefer(on, asio::execution::outstanding_work.tracked);
  asio::post(asio::system_executor(), [target = std::move(target), what = std::move(what)]() mutable {
    asio::dispatch(target, std::move(what));
  });
}

}  // namespace zkrecipes::detail
