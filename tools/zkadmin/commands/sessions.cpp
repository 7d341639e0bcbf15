// `zkadmin sessions`.
#include <algorithm>
#include <memory>
#include <utility>

#include "cluster/node_line.hpp"
#include "cluster/session_password.hpp"
#include "cluster/session_reader.hpp"
#include "cluster/session_roles.hpp"
#include "commands/listing.hpp"
#include "report/session_report.hpp"

namespace zkadmin {
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

}  // namespace zkadmin
