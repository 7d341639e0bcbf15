#include "topic/put_inbox.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include "backend/begin_once.hpp"

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

std::size_t record_put(put_line& line, std::size_t count, std::uint64_t number, std::deque<put_result>& results) {
  std::size_t ended = 0;
  for (; !line.empty(); ++ended) {
    auto& first = *line.front();
    const auto some = std::min(count, first.composed - first.put);
    first.put += some;
    count -= some;
    number += some;
    if (!first.is_over()) break;
    const auto single = first.error ? 0 : number;
    results.push_back({std::move(first.caller), first.error, first.is_many ? first.put : single});
    line.pop_front();
  }
  return ended;
}

void fail_first(put_line& line, const error_code& why, std::deque<put_result>& results) {
  auto& first = *line.front();
  results.push_back({std::move(first.caller), why, first.put});
  line.pop_front();
}

namespace {

void cancel(const scheduler_ptr& on, const std::weak_ptr<topic_put>& which) {
  auto alive = which.lock();
  if (!alive) return;
  asio::post(on->base,
             [caller = std::move(alive->caller)]() mutable { caller.complete(asio::error::operation_aborted, 0); });
}

}  // namespace

void put_inbox::refuse(topic_caller::handler whose, const error_code& why) {
  auto caller = std::make_shared<topic_caller>(*on_, std::move(whose));
  asio::post(on_->base, [caller, why] { caller->complete(why, 0); });
}

void put_inbox::add(topic_caller::handler whose, std::vector<topic_message> what, bool is_many, const taker& take) {
  auto slot = asio::get_associated_cancellation_slot(whose);
  auto mine = std::make_shared<topic_put>(topic_put{std::move(what), is_many, topic_caller(*on_, std::move(whose))});
  if (slot.is_connected()) {
    // The slot may outlive the context, so it has only weak pointers.
    slot.assign([weak_on = std::weak_ptr(on_), weak = std::weak_ptr(mine)](asio::cancellation_type) {
      auto alive = weak_on.lock();
      if (alive) asio::post(alive->strand, [alive, weak] { cancel(alive, weak); });
    });
  }
  std::lock_guard lock(mutex_);
  auto present = announced_.lock();
  const bool is_announced = present != nullptr;
  if (!is_announced) present = std::make_shared<arrivals>();
  present->all.push_back(std::move(mine));
  if (is_announced) return;
  announced_ = present;
  asio::post(on_->strand, [this, present, take] { take(take_out(*present)); });
}

std::vector<put_inbox::waiting_put> put_inbox::take_out(arrivals& from) {
  std::lock_guard lock(mutex_);
  announced_.reset();
  return std::move(from.all);
}

void inbox_producer::put(handler whose, std::vector<topic_message> what, bool is_many) {
  if (!std::ranges::all_of(what, can_put_)) return refuse(std::move(whose), errc::too_large);
  if (what.empty()) return refuse(std::move(whose), error_code());
  add(std::move(whose), std::move(what), is_many);
}

void inbox_producer::add(handler whose, std::vector<topic_message> what, bool is_many) {
  inbox_.add(std::move(whose), std::move(what), is_many,
             [self = shared_from_this()](auto arrived) { self->take_in(std::move(arrived)); });
}

void inbox_producer::leave() {
  is_left_ = true;
  record_change();
}

void inbox_producer::begin_work() {
  begin_once(is_working_, [this] {
    auto watch = std::make_shared<put_abandonment>([self = shared_from_this()] { self->abandon(); });
    launch_detached(get_scheduler()->strand, owning(shared_from_this(), &inbox_producer::work, std::move(watch)));
  });
}

void inbox_producer::end_work(put_abandonment& watch) {
  is_working_ = false;
  watch.dismiss();
}

void inbox_producer::tell(std::deque<put_result>& results) {
  if (!results.empty()) complete_results(get_scheduler()->base, std::exchange(results, {}));
}

}  // namespace zkrecipes::detail
