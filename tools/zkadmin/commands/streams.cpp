#include <memory>
#include <ostream>

#include "cluster/broker_reader.hpp"
#include "cluster/stream_reader.hpp"
#include "commands/commands.hpp"
#include "commands/listing.hpp"
#include "report/stream_report.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

std::string formatted_streams(const known_streams& streams, output_format format, bool is_one) {
  switch (format) {
    case output_format::table: return is_one && streams ? to_table(streams->found.at(0)) : to_table(streams);
    case output_format::json: return to_json(streams);
    case output_format::tsv: return to_tsv(streams);
  }
  return {};
}

asio::awaitable<reading<stream_status>> read_with_broker(zkrecipes::session session, std::string path,
                                                         broker_place broker) {
  auto seen = co_await read_stream(session, std::move(path));
  if (!seen.error) co_await ask_broker(std::move(session), std::move(broker), seen.status);
  co_return seen;
}

reader<stream_status> reader_with(const std::optional<broker_place>& broker) {
  if (!broker) return read_stream;
  return [place = *broker](zkrecipes::session session, std::string path) {
    return read_with_broker(std::move(session), std::move(path), place);
  };
}

/// Tells what the brokers have not told. Returns whether there was any.
bool print_trouble(std::ostream& err, const stream_survey& streams) {
  bool is_any = false;
  for (const auto& each : streams.found) {
    if (!each.broker || each.broker->trouble.empty()) continue;
    err << "zkadmin: " << printable(each.path + ": its broker: " + each.broker->trouble) << '\n';
    is_any = true;
  }
  return is_any;
}

}  // namespace

exit_code show_streams(surroundings& around, const settings& wanted, const std::string& path,
                       const std::optional<broker_place>& broker, output_format format) {
  const listing_kind<stream_status> streams{"stream", recipe::stream, reader_with(broker)};
  bool is_troubled = false;
  const auto told = broker ? with_log_of(*broker, wanted) : wanted;
  const auto code = show_list<stream_status>(around, told, streams, path, [&](const known_streams& all) {
    is_troubled = all && print_trouble(around.err, *all);
    return formatted_streams(all, format, !path.empty());
  });
  return code == exit_code::ok && is_troubled ? exit_code::error : code;
}

}  // namespace zkadmin
