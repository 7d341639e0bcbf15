#include "limit/waiting_line.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

namespace {

class waiting_places : public asio::execution_context::service {
 public:
  using key_type = waiting_places;
  static asio::execution_context::id id;

  explicit waiting_places(asio::execution_context& context) : asio::execution_context::service(context) {}

  void add(std::shared_ptr<waiting_place> each) {
    std::lock_guard lock(mutex_);
    auto* address = each.get();
    all_.emplace(address, std::move(each));
  }
  std::shared_ptr<waiting_place> remove(waiting_place* each) {
    std::lock_guard lock(mutex_);
    auto found = all_.extract(each);
    return found ? std::move(found.mapped()) : nullptr;
  }

 private:
  void shutdown() override {
    // To drop one may destroy a coroutine that holds another, and cancels a wait in it.
    while (auto each = next()) each->drop();
  }
  std::shared_ptr<waiting_place> next() {
    std::lock_guard lock(mutex_);
    return all_.empty() ? nullptr : std::move(all_.extract(all_.begin()).mapped());
  }

  std::mutex mutex_;
  std::unordered_map<waiting_place*, std::shared_ptr<waiting_place>> all_;
};

asio::execution_context::id waiting_places::id;

waiting_places& waiting_places_of(const asio::any_io_executor& in) {
  return asio::use_service<waiting_places>(asio::query(in, asio::execution::context));
}

}  // namespace

void keep_until_shutdown(const asio::any_io_executor& in, std::shared_ptr<waiting_place> which) {
  waiting_places_of(in).add(std::move(which));
}

std::shared_ptr<waiting_place> release(const asio::any_io_executor& in, waiting_place* which) {
  return waiting_places_of(in).remove(which);
}

acquire_waiter_ptr make_waiter(const scheduler& on, acquire_handler handler, std::int64_t cost, ticks came,
                               ticks deadline) {
  auto target = target_of(handler, on);
  return std::make_shared<acquire_waiter>(
      acquire_waiter{std::move(handler), std::move(target), cost, came, deadline, false, {}});
}

void complete(const scheduler& on, acquire_waiter& which, error_code why) {
  auto call = [handler = std::make_shared<acquire_handler>(std::move(which.handler)), why] {
    std::move (*handler)(why);
  };
  asio::post(on.base, [target = std::move(which.target), call = std::move(call)]() mutable {
    asio::dispatch(target, std::move(call));
  });
}

void line_timer::set(ticks when) {
  asio::post(clock_.get_scheduler()->strand, [self = shared_from_this(), when] { self->start(when); });
}

void line_timer::start(ticks when) {
  drop();
  if (when == no_ticks_limit) return;
  id_ = clock_.get_scheduler()->world->call_at(clock_.time_of(when), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->id_ = 0;
    self->what_();
  });
}

void line_timer::drop() {
  if (id_) clock_.get_scheduler()->world->cancel(std::exchange(id_, 0));
}

}  // namespace zkrecipes::detail
