#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/text.hpp"
#include "brokers/broker_reader.hpp"
#include "change/group_change.hpp"
#include "cluster/election_reader.hpp"
#include "cluster/group.hpp"
#include "cluster/line_status.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/intervene.hpp"
#include "commands/listing.hpp"
#include "report/group_report.hpp"
#include "report/history_report.hpp"
#include "report/recipe_report.hpp"
#include "report/session_report.hpp"
#include "report/stream_report.hpp"
#include "report/topic_report.hpp"
#include "sessions/session_end.hpp"
#include "sessions/session_reader.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

std::string formatted_groups(const known_groups& groups, output_format format, bool is_one,
                             const problem_limits& limits) {
  switch (format) {
    case output_format::table: return is_one && groups ? to_table(groups->found.at(0), limits) : to_table(groups);
    case output_format::json: return to_json(groups, limits);
    case output_format::tsv: return to_tsv(groups, limits);
  }
  return {};
}

}  // namespace

exit_code show_groups(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<group_status> groups{"shard group", recipe::shard_group, read_group};
  return show_list<group_status>(around, wanted, groups, path, [format, &path, &wanted](const known_groups& all) {
    return formatted_groups(all, format, !path.empty(), wanted.limits);
  });
}

exit_code freeze_group(surroundings& around, const settings& wanted, const std::string& path, bool frozen,
                       bool read_write) {
  return intervene(around, wanted, path, read_write, frozen ? prepare_freeze : prepare_thaw);
}

exit_code release_shards(surroundings& around, const settings& wanted, const std::string& path,
                         std::optional<std::uint32_t> which, bool read_write) {
  if (!which) return intervene(around, wanted, path, read_write, prepare_release_of_all);
  return intervene(around, wanted, path, read_write, [shard = *which](zkrecipes::session session, std::string group) {
    return prepare_release(std::move(session), std::move(group), shard);
  });
}

namespace {

std::string formatted_topics(const known_topics& topics, output_format format, bool is_one) {
  switch (format) {
    case output_format::table: return is_one && topics ? to_table(topics->found.at(0)) : to_table(topics);
    case output_format::json: return to_json(topics);
    case output_format::tsv: return to_tsv(topics);
  }
  return {};
}

}  // namespace

exit_code show_topics(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<topic_status> topics{"topic", recipe::topic, read_topic};
  return show_list<topic_status>(around, wanted, topics, path, [format, &path](const known_topics& all) {
    return formatted_topics(all, format, !path.empty());
  });
}

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

namespace {

std::string formatted_recipes(const known_recipes& recipes, output_format format, bool is_one,
                              const problem_limits& limits) {
  switch (format) {
    case output_format::table: return is_one && recipes ? to_details(*recipes, limits) : to_table(recipes, limits);
    case output_format::json: return to_json(recipes, limits);
    case output_format::tsv: return to_tsv(recipes, limits);
  }
  return {};
}

/// The setting `queues` declares queues as well.
recipe_query query_of(const settings& wanted, const std::string& kind) {
  recipe_query query{std::nullopt, wanted.recipes};
  for (const auto& each : wanted.queues) query.declared.push_back({recipe::queue, each});
  if (!kind.empty()) query.kind = parse_kind_argument(kind);
  return query;
}

}  // namespace

exit_code show_recipes(surroundings& around, const settings& wanted, const std::string& path, const std::string& kind,
                       output_format format) {
  const auto only = path.empty() ? path : parse_path_argument(path);
  const auto query = query_of(wanted, kind);
  const finder<recipe_status> find = [only, query, root = wanted.root](zkrecipes::session session, deadline limit) {
    if (!only.empty()) return survey_recipe_at(std::move(session), only, query, limit);
    return survey_all_recipes(std::move(session), root, query, middle(limit), limit);
  };
  return show_found<recipe_status>(around, wanted, "recipes", find, [&](const known_recipes& all) {
    return formatted_recipes(all, format, !only.empty(), wanted.limits);
  });
}

// `zkadmin sessions`.

namespace {

namespace asio = boost::asio;

std::string formatted_sessions(const known_sessions& sessions, output_format format, bool is_one) {
  const auto now = clock_now();
  switch (format) {
    case output_format::table: return is_one && sessions ? to_details(*sessions, now) : to_table(sessions, now);
    case output_format::json: return to_json(sessions, is_one, now);
    case output_format::tsv: return to_tsv(sessions, is_one, now);
  }
  return {};
}

/// Leaves only this session. Throws `failure` if it is not among them.
void keep_only(session_survey& all, std::int64_t id) {
  std::erase_if(all.found, [id](const session_status& each) { return each.id != id; });
  if (!all.found.empty()) return;
  const auto shown = hexadecimal(static_cast<std::uint64_t>(id));
  if (all.complete) throw failure(exit_code::not_found, "there is no session " + shown);
  std::string why;
  for (const auto& each : all.notes) why += "\n  " + printable(to_string(each));
  throw failure(exit_code::error, "session " + shown + " was not seen, but not all of them were:" + why);
}

/// The sessions or, if `id` is not 0, that one with its part in recipes. Also stores them in `into`. Throws `failure`.
asio::awaitable<survey<session_status>> find_sessions(zkrecipes::session session, settings wanted, std::int64_t id,
                                                      deadline limit, std::shared_ptr<known_sessions> into) {
  auto all = co_await survey_sessions(session, wanted, limit);
  if (id != 0) {
    keep_only(all, id);
    auto declared = wanted.recipes;
    for (const auto& each : wanted.queues) declared.push_back({recipe::queue, each});
    co_await add_roles(session, std::move(declared), middle(limit), all.found.front(), all);
  }
  *into = all;
  co_return all;
}

}  // namespace

exit_code show_sessions(surroundings& around, const settings& wanted, const std::string& session,
                        output_format format) {
  const auto id = session.empty() ? 0 : parse_session(session);
  const auto all = std::make_shared<known_sessions>();
  const finder<session_status> find = [wanted, id, all](zkrecipes::session over, deadline limit) {
    return find_sessions(std::move(over), wanted, id, limit, all);
  };
  return show_found<session_status>(around, wanted, "sessions", find, [&](const auto& found) {
    return formatted_sessions(found ? *all : known_sessions(), format, id != 0);
  });
}

namespace {

namespace asio = boost::asio;

struct history_request : contact {
  using contact::contact;
  std::optional<election_status> election;
};

asio::awaitable<void> read_history_of(std::shared_ptr<history_request> asked, std::string path) {
  co_await make_contact(asked);
  asked->election = co_await view_election(*asked->session, std::move(path));
}

/// Throws `failure` if there is no record to tell anything.
void require_election(const std::optional<election_status>& seen, const std::string& path) {
  if (!seen) throw failure(exit_code::error, "there is no election at " + printable(path));
  if (seen->phase == refused_phase) check(zkrecipes::errc::no_auth, "reading " + path);
  if (seen->phase == foreign_phase)
    throw failure(exit_code::error, printable(path) + " holds data that is not an election's");
}

}  // namespace

exit_code show_history(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const auto checked = parse_path_argument(path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<history_request>(wanted);
  try {
    run_task(around.io, limit, *asked, read_history_of(asked, checked));
    end_contact(around.io, *asked, limit);
  } catch (const failure&) {
    end_contact(around.io, *asked, limit);
    throw;
  }
  require_election(asked->election, checked);
  around.out << formatted_history(*asked->election, format, std::chrono::system_clock::now()) << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
  return exit_code::ok;
}

}  // namespace zkadmin
