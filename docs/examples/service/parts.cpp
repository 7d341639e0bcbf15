#include "parts.hpp"

#include <utility>

#include <boost/asio/io_context.hpp>

#include "producer_outlet.hpp"
#include "shard_role.hpp"
#include "single_role.hpp"
#include "spool_outlet.hpp"

namespace service {
namespace {

zkrecipes::topic make_topic(const zkrecipes::session& over, const configuration& settings) {
  zkrecipes::topic_options options{.shards = settings.shards, .retention = {.groups = {settings.consumers}}};
  return {over, settings.input, std::move(options)};
}

/// With a spool only the messages of the replica's own producer go by way of a file. Clients that number their messages
/// keep them until they are in the queue, and can go to another replica at any time.
template <class Producer, class Into>
intake::outlet_factory make_outlets(Into into, const std::string& own, const configuration& settings) {
  return [into = std::move(into), own, settings](const std::string& name) -> std::unique_ptr<outlet> {
    if (settings.spool && name == own) return make_spool_outlet(into, name, settings);
    return std::make_unique<producer_outlet<Producer>>(Producer(into, name));
  };
}

}  // namespace

zkrecipes::session make_session(boost::asio::io_context& io, const configuration& settings, json_log& log) {
  zkrecipes::session_options options{
      .hosts = settings.servers, .timeout = settings.timeout, .root = settings.root, .create_root = true};
  if (settings.digest) {
    options.digest = {*settings.digest};
    options.default_acl = zkrecipes::creator_acl();
  }
  options.log = log.hook();
  return {io, std::move(options)};
}

std::optional<zkrecipes::limiter> make_limiter(boost::asio::io_context& io, const configuration& settings) {
  if (!settings.limiter) return std::nullopt;
  return zkrecipes::limiter(io, *settings.limiter);
}

std::unique_ptr<role> make_role(const zkrecipes::session& over, const configuration& settings,
                                const std::optional<zkrecipes::limiter>& limiter) {
  work_settings work{settings.output, settings.hand_over, limiter};
  if (settings.mode == work_mode::single) return std::make_unique<single_role>(over, settings, std::move(work));
  return std::make_unique<shard_role>(make_topic(over, settings), settings, std::move(work));
}

std::unique_ptr<intake> make_intake(const zkrecipes::session& over, const configuration& settings) {
  const auto own = "service-" + settings.id;
  auto make = settings.mode == work_mode::single
                  ? make_outlets<zkrecipes::producer>(zkrecipes::queue(over, settings.input), own, settings)
                  : make_outlets<zkrecipes::topic_producer>(make_topic(over, settings), own, settings);
  const intake_options options{.pending = settings.http.pending, .timeout = settings.http.put_timeout};
  auto result = std::make_unique<intake>(over.get_executor(), own, std::move(make), options);
  if (settings.spool) result->open_own();
  return result;
}

}  // namespace service
