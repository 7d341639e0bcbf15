// Commands that print all recipes of one kind, once.
#pragma once

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
#include "cluster/collector.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/errand.hpp"
#include "settings/values.hpp"

namespace zkadmin {

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
  std::string name;  ///< That of one of them.
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

}  // namespace zkadmin
