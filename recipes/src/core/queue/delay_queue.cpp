#include <algorithm>
#include <utility>

#include <zkrecipes/delay_queue.hpp>

#include "queue/queue_core.hpp"

namespace zkrecipes {

using namespace detail;
using std::chrono::milliseconds;

namespace {

constexpr auto longest_delay = std::chrono::duration_cast<milliseconds>(std::chrono::years(100));
constexpr std::int64_t latest_time = 9'999'999'999'999'999;  // the name has 16 digits for it

bool is_delay(milliseconds delay) { return delay >= milliseconds(0) && delay <= longest_delay; }

}  // namespace

delay_queue::delay_queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::delayed, std::move(path), std::move(options))) {}

void delay_queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                            milliseconds delay) {
  if (!is_delay(delay)) return launch(*core->get_scheduler(), std::move(h), refuse<std::string>(errc::bad_arguments));
  launch(std::move(h), core->get_putter(), &putter::put_later, new_item{delay.count(), std::move(data)});
}

void delay_queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core, std::vector<delayed> items) {
  const bool fine = std::all_of(items.begin(), items.end(), [](const delayed& each) { return is_delay(each.delay); });
  if (!fine) return launch(*core->get_scheduler(), std::move(h), refuse<names>(errc::bad_arguments));
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({each.delay.count(), std::move(each.data)});
  launch(std::move(h), core->get_putter(), &putter::put_many_later, std::move(all));
}

void delay_queue::start_put_at(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                               std::chrono::system_clock::time_point when) {
  const auto time = std::chrono::ceil<milliseconds>(when.time_since_epoch()).count();
  const bool fine = time >= 0 && time <= latest_time;
  if (!fine) return launch(*core->get_scheduler(), std::move(h), refuse<std::string>(errc::bad_arguments));
  launch(std::move(h), core->get_putter(), &putter::put, new_item{time, std::move(data)});
}

}  // namespace zkrecipes
