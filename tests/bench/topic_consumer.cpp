#include "topic_consumer.hpp"

#include <cstdint>

#include "asynchronous.hpp"

namespace bench {

delivery_result work_off(asio::io_context& io, const zkrecipes::session& zk, const char* path, timed_consumer& career,
                         int count) {
  zkrecipes::consumer_coordinator coordinator(zk, path, {.id = "bench"});
  bool ended = false;
  coordinator.async_run(career, [&](zkrecipes::error_code) { ended = true; });
  const auto all = static_cast<std::uint64_t>(count);
  const auto is_done = [&] { return ended || career.status().done == all; };
  if (!run_until(io, is_done, 2min) || ended) throw std::runtime_error("a consumer does not go on");
  const double seconds = ms_since(career.began()) / 1000;
  const auto commits = static_cast<double>(career.status().commits);
  coordinator.stop();
  run_until(
      io, [&] { return ended; }, 1min);
  return {count / seconds, commits};
}

}  // namespace bench
