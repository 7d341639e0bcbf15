#include "rabbitmq/message_numbering.hpp"

#include <utility>

#include "format/json_object.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr const char* producer_kind = "rabbit_producer";

bool is_producer(const std::string& data) {
  if (data.empty()) return true;  // it was made just now
  const auto read = json_object::parse(data);
  return read && read->is(producer_kind);
}

}  // namespace

/// A write whose reply is lost is done once more, or is found to have come first by the version. The number of a write
/// that nobody was told of belongs to nobody.
awaitable<outcome<std::uint64_t>> claim_epoch(rabbit_frame_ptr frame, std::string name) {
  auto error = co_await agree_on_record(frame);
  const auto session = frame->broker.session;
  const auto path = join(frame->where.producers(), name);
  while (!error) {
    auto found = co_await session->perform(make_request(opcode::get, path), retry::always);
    if (found.error == errc::no_node) {
      error = co_await session->ensure_path(path);
      continue;
    }
    if (found.error) co_return failed<std::uint64_t>(found.error);
    if (!is_producer(found.data)) co_return failed<std::uint64_t>(errc::foreign_data);
    auto write = make_request(opcode::set, path);
    write.data = json_object::of_kind(producer_kind).to_text();
    write.version = found.stat.version;
    auto written = co_await session->perform(std::move(write), retry::always);
    if (is_write_conflict(written.error)) continue;
    co_return outcome<std::uint64_t>(written.error, static_cast<std::uint64_t>(written.stat.mzxid));
  }
  co_return failed<std::uint64_t>(error);
}

}  // namespace zkrecipes::detail
