#include "spool/queue_target.hpp"

#include <utility>

#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/producer.hpp>

#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

namespace {

/// The results of puts that were made together.
struct put_results {
  std::size_t open;
  std::size_t first_failed;
  error_code error{};
};

}  // namespace

queue_target::queue_target(const queue& into, const std::string& name)
    : producer_target(into.get_session(), {.most_messages = 1'000, .most_bytes = std::size_t{1} << 20}) {
  constexpr producer_options how{.max_batch = 1'000};
  const producer checked(into, name, how);
  const auto& core = into.get_queue();
  producer_ = std::make_shared<producer_state>(core->frame(), core->get_capacity(), name, how);
  producer_->stop_at_failures();
}

void queue_target::last(handler done) {
  launch_endless(handler_for<void(error_code, std::uint64_t)>(ask(std::move(done))), producer_, &producer_state::last);
}

void queue_target::put(std::vector<spool_row> what, handler done) {
  auto all = std::make_shared<put_results>(put_results{what.size(), what.size()});
  auto told = std::make_shared<handler>(std::move(done));
  for (std::size_t i = 0; i < what.size(); ++i) {
    auto each = [all, told, i](error_code error, std::uint64_t) {
      if (error && i < all->first_failed) {
        all->first_failed = i;
        all->error = error;
      }
      if (--all->open == 0) (*told)(all->error, all->first_failed);
    };
    launch_endless(handler_for<void(error_code, std::uint64_t)>(asio::bind_executor(strand(), std::move(each))),
                   producer_, &producer_state::put, std::move(what[i].data));
  }
}

}  // namespace zkrecipes::detail
