#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/text.hpp"
#include "brokers/broker_reader.hpp"
#include "cluster/collector.hpp"
#include "cluster/group.hpp"
#include "cluster/line_status.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/status.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "report/formats.hpp"
#include "report/group_report.hpp"
#include "report/message_report.hpp"
#include "report/recipe_report.hpp"
#include "report/session_report.hpp"
#include "report/status_report.hpp"
#include "sessions/session_end.hpp"
#include "sessions/session_reader.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

// Commands that print all recipes of one kind, once.

/// The result of the search. The command and the search share it, because the search may go on after the command has
/// stopped waiting.
template <class Status>
struct listing : contact {
  using contact::contact;
  std::optional<survey<Status>> found;
  std::optional<failure> trouble;  ///< Why nothing is known.
  bool is_done = false;
};

/// Finds what is to be listed, until the deadline. Throws `failure`.
template <class Status>
using finder = std::function<boost::asio::awaitable<survey<Status>>(zkrecipes::session, deadline)>;

/// Makes the output of what was found, if that is known, and of the servers.
template <class Status>
using formatter = std::function<std::string(const std::optional<survey<Status>>&, const std::vector<server_status>&)>;

template <class Status>
boost::asio::awaitable<void> fill(std::shared_ptr<listing<Status>> list, finder<Status> find, deadline limit) {
  try {
    co_await make_contact(list);
    list->found = co_await find(*list->session, limit);
  } catch (const failure& error) {
    list->trouble = error;
  }
  list->is_done = true;
}

/// The reason why the list is not complete; nothing if it is.
template <class Status>
std::optional<failure> shortcoming_of(const listing<Status>& list) {
  if (list.trouble) return list.trouble;
  if (!list.found)
    return failure(exit_code::error,
                   std::string(out_of_time(list).what()) + ": the " + list.subject + " are not known");
  if (list.found->refused)
    return failure(exit_code::auth, "something may not be read; give credentials (digest_file or ZKADMIN_DIGEST)");
  if (!list.found->complete) return failure(exit_code::error, "there may be more " + list.subject + " than these");
  return std::nullopt;
}

/// Prints what `format` makes of what is found. Missing information is reported on `err` and by the exit code.
/// `subject` names several of what is listed.
template <class Status>
exit_code show_found(surroundings& around, const settings& wanted, const std::string& subject,
                     const finder<Status>& find, const formatter<Status>& format) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto list = std::make_shared<listing<Status>>(wanted, subject);
  boost::asio::co_spawn(around.io, fill(list, find, limit), boost::asio::detached);
  run_until(around.io, limit, [&list] { return list->is_done; });
  const auto missing = shortcoming_of(*list);
  const auto shown = list->found;
  const auto servers = list->servers;
  end_contact(around.io, *list, limit);

  around.out << format(shown, servers);
  finish_output(around);
  if (shown)
    for (const auto& note : shown->notes) around.err << "zkadmin: note: " << printable(to_string(note)) << '\n';
  if (!missing) return exit_code::ok;
  around.err << "zkadmin: " << missing->what() << '\n';
  return missing->code();
}

/// The kind of recipe to list, and how to read one.
template <class Status>
struct listing_kind {
  std::string name;  ///< The name of one of them.
  recipe which;
  reader<Status> read;
};

/// The same for all of a kind at and below the root or, if `path` is not empty, for the one at the path.
template <class Status>
exit_code show_list(surroundings& around, const settings& wanted, const listing_kind<Status>& kind,
                    const std::string& path, const formatter<Status>& format) {
  const auto only = path.empty() ? path : parse_path_argument(path);
  const finder<Status> find = [kind, only, root = wanted.root](zkrecipes::session session, deadline limit) {
    if (!only.empty()) return survey_one<Status>(std::move(session), only, kind.name, kind.read);
    return survey_recipes<Status>(std::move(session), root, kind.which, kind.read, middle(limit), limit);
  };
  return show_found<Status>(around, wanted, kind.name + "s", find, format);
}

}  // namespace

exit_code show_groups(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<group_status> groups{"shard group", recipe::shard_group, read_group};
  const auto& limits = wanted.limits;
  return show_list<group_status>(around, wanted, groups, path, [&](const known_groups& all, const auto&) {
    return in_format(
        format, [&] { return path.empty() || !all ? to_table(all, limits) : to_table(all->found.at(0), limits); },
        [&] { return to_json(all, limits); }, [&] { return to_tsv(all, limits); });
  });
}

exit_code show_topics(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<topic_status> topics{"topic", recipe::topic, read_topic};
  return show_list<topic_status>(around, wanted, topics, path, [&](const known_topics& all, const auto&) {
    return in_format(
        format, [&] { return path.empty() || !all ? to_table(all) : to_table(all->found.at(0)); },
        [&] { return to_json(all); }, [&] { return to_tsv(all); });
  });
}

namespace {

namespace asio = boost::asio;

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
  const auto code = show_list<stream_status>(around, told, streams, path, [&](const known_streams& all, const auto&) {
    is_troubled = all && print_trouble(around.err, *all);
    return in_format(
        format, [&] { return path.empty() || !all ? to_table(all) : to_table(all->found.at(0)); },
        [&] { return to_json(all); }, [&] { return to_tsv(all); });
  });
  return code == exit_code::ok && is_troubled ? exit_code::error : code;
}

namespace {

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
  return show_found<recipe_status>(around, wanted, "recipes", find, [&](const known_recipes& all, const auto&) {
    const auto& limits = wanted.limits;
    return in_format(
        format, [&] { return only.empty() || !all ? to_table(all, limits) : to_details(*all, limits); },
        [&] { return to_json(all, limits); }, [&] { return to_tsv(all, limits); });
  });
}

// `zkadmin sessions`.

namespace {

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
  return show_found<session_status>(around, wanted, "sessions", find, [&](const auto& found, const auto&) {
    const auto sessions = found ? *all : known_sessions();
    const auto now = clock_now();
    const bool is_one = id != 0;
    return in_format(
        format, [&] { return is_one && sessions ? to_details(*sessions, now) : to_table(sessions, now); },
        [&] { return to_json(sessions, is_one, now); }, [&] { return to_tsv(sessions, is_one, now); });
  });
}

namespace {

using perhaps_election = std::shared_ptr<std::optional<election_status>>;

asio::awaitable<void> read_history(zkrecipes::session session, std::string path, perhaps_election into) {
  *into = co_await view_election(std::move(session), std::move(path));
}

/// Throws `failure` if there is no record to tell anything.
void require_election(const std::optional<election_status>& seen, const std::string& path) {
  if (!seen) throw failure(exit_code::error, "there is no election at " + printable(path));
  if (seen->phase == refused_phase) check(zkrecipes::errc::no_auth, "reading " + path);
  if (seen->phase == foreign_phase)
    throw failure(exit_code::error, printable(path) + " holds data that is not an election's");
  if (seen->history.empty() && !seen->leader && seen->waiters.empty())
    throw failure(exit_code::error, printable(path) + " is no election: no record is there, and nobody in line");
}

}  // namespace

exit_code show_history(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const auto checked = parse_path_argument(path);
  const auto seen = std::make_shared<std::optional<election_status>>();
  const auto read = [checked, seen](zkrecipes::session session, deadline) {
    return read_history(std::move(session), checked, seen);
  };
  if (const auto trouble = run_errand(around, wanted, read, "elections")) throw failure(*trouble);
  require_election(*seen, checked);
  around.out << formatted_history(**seen, format, std::chrono::system_clock::now());
  finish_output(around);
  return exit_code::ok;
}

namespace {

asio::awaitable<election_survey> find_elections(zkrecipes::session session, std::string root, deadline limit) {
  collector at(std::move(session), std::move(root));
  co_await at.search(middle(limit));
  co_return co_await at.elections(middle(limit));
}

}  // namespace

exit_code show_status(surroundings& around, const settings& wanted, output_format format) {
  const finder<election_status> find = [root = wanted.root](zkrecipes::session session, deadline limit) {
    return find_elections(std::move(session), root, limit);
  };
  return show_found<election_status>(around, wanted, "elections", find, [&](const auto& found, const auto& servers) {
    const cluster_status shown{servers, found};
    return in_format(
        format, [&] { return to_table(shown, wanted.limits); }, [&] { return to_json(shown, wanted.limits); },
        [&] { return to_tsv(shown, wanted.limits); });
  });
}

}  // namespace zkadmin
