#include <algorithm>
#include <utility>

#include <zkrecipes/delay_queue.hpp>

#include "queue/start_put.hpp"

namespace zkrecipes {

using namespace detail;
using std::chrono::milliseconds;

namespace {

constexpr auto longest_delay = std::chrono::duration_cast<milliseconds>(std::chrono::years(100));
constexpr std::int64_t latest_time = 9'999'999'999'999'999;  // the name has 16 digits for it

awaitable<outcome<std::string>> put_later(std::shared_ptr<queue_core> core, std::string data, milliseconds delay) {
  auto error = co_await core->clock().learn();
  if (error) co_return outcome<std::string>(error, std::string());
  co_return co_await put_item(core, core->clock().latest() + delay.count(), std::move(data));
}

awaitable<outcome<names>> put_all_later(std::shared_ptr<queue_core> core, std::vector<delayed> items) {
  auto error = co_await core->clock().learn();
  if (error) co_return outcome<names>(error, names());
  const auto now = core->clock().latest();
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({now + each.delay.count(), std::move(each.data)});
  co_return co_await put_items(core, std::move(all));
}

bool is_delay(milliseconds delay) { return delay >= milliseconds(0) && delay <= longest_delay; }

}  // namespace

delay_queue::delay_queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::delayed, std::move(path), std::move(options))) {}

void delay_queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                            milliseconds delay) {
  const bool fine = is_delay(delay);
  launch(core->on(), std::move(h),
         fine ? put_later(core, std::move(data), delay) : refuse<std::string>(errc::bad_arguments));
}

void delay_queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core, std::vector<delayed> items) {
  const bool fine = std::all_of(items.begin(), items.end(), [](const delayed& each) { return is_delay(each.delay); });
  launch(core->on(), std::move(h), fine ? put_all_later(core, std::move(items)) : refuse<names>(errc::bad_arguments));
}

void delay_queue::start_put_at(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                               std::chrono::system_clock::time_point when) {
  const auto time = std::chrono::ceil<milliseconds>(when.time_since_epoch()).count();
  const bool fine = time >= 0 && time <= latest_time;
  launch(core->on(), std::move(h),
         fine ? put_item(core, time, std::move(data)) : refuse<std::string>(errc::bad_arguments));
}

}  // namespace zkrecipes
