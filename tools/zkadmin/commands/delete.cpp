// `zkadmin delete`.
#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "cluster/node_change_request.hpp"
#include "cluster/node_reading.hpp"
#include "cluster/node_removal.hpp"
#include "cluster/node_walk.hpp"
#include "commands/audit.hpp"
#include "commands/confirmation.hpp"
#include "commands/contact.hpp"
#include "commands/errand.hpp"
#include "commands/intervene.hpp"
#include "commands/node_commands.hpp"
#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

constexpr std::size_t most_requests_shown = 20;  // Before the question; without --rw all are shown.

std::string counted_nodes(std::size_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

/// Refuses what a recipe keeps anywhere in the listing, and a listing that does not show all.
void require_deletable(const node_listing& listing, const std::string& path, bool force) {
  if (listing.refused)
    throw failure(exit_code::auth, "something below " + printable(path) + " may not be read: nothing was sent");
  if (!listing.complete)
    throw failure(exit_code::error, "not all nodes below " + printable(path) +
                                        " could be listed: nothing was sent; delete a part of it first");
  if (force) return;
  for (const auto& each : listing.nodes) {
    const auto reason = recipe_that_keeps(each.path, each.recipe);
    if (!reason.empty())
      throw failure(exit_code::error,
                    printable(each.path + ": " + reason) + ": nothing was sent; --force does it all the same");
  }
}

node_listing list_deletable(surroundings& around, const settings& wanted, const std::string& path, bool force) {
  const auto listing = std::make_shared<node_listing>();
  const auto trouble =
      run_errand(around, wanted, [=](zkrecipes::session session, deadline until) -> asio::awaitable<void> {
        co_await require_free(session, path, force);
        node_walk walk(session, path, {.until = until});
        co_await walk.run();
        *listing = walk.listing();
      });
  if (trouble) throw *trouble;
  require_deletable(*listing, path, force);
  listing->nodes = leaves_first(std::move(listing->nodes));
  return std::move(*listing);
}

std::string plan_of(const node_listing& listing, std::size_t most) {
  std::string text;
  std::size_t bytes = 0;
  zkrecipes::transaction requests;
  for (const auto& each : listing.nodes) {
    bytes += static_cast<std::size_t>(std::max(each.stat->data_length, 0));
    if (requests.operations().size() < most) requests.remove(each.path, each.stat->version);
  }
  text = to_text(requests);
  if (listing.nodes.size() > most) text += "... and " + std::to_string(listing.nodes.size() - most) + " more\n";
  return text + counted_nodes(listing.nodes.size()) + " with " + std::to_string(bytes) + " bytes of data\n";
}

std::string result_text(const removal_result& result, std::size_t count, const std::string& path) {
  auto text = "deleted " + std::to_string(result.deleted) + " of " + counted_nodes(count) + " at and below " + path;
  if (result.gone > 0) text += "; " + std::to_string(result.gone) + " had been deleted by others";
  return printable(text);
}

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct removal : contact {
  removal(const settings& with, std::vector<node_view> listed) : contact(with, "nodes"), nodes(std::move(listed)) {}
  std::vector<node_view> nodes;
  removal_result result;
};

asio::awaitable<void> carry_out(std::shared_ptr<removal> asked) {
  co_await remove_nodes(*asked->session, asked->nodes, asked->result);
}

/// Returns what the user is told. Throws `failure`, also if not all was deleted.
std::string remove_listed(surroundings& around, const std::shared_ptr<removal>& asked, const std::string& path) {
  const auto told = [&] { return result_text(asked->result, asked->nodes.size(), path); };
  const deadline limit = std::chrono::steady_clock::now() + asked->wanted.timeout;
  try {
    run_task(around.io, limit, *asked, carry_out(asked));
  } catch (const failure& error) {
    asked->result.is_stopped = true;
    throw failure(error.code(), told() + " for certain: " + error.what());
  }
  const auto& obstacle = asked->result.obstacle;
  if (!obstacle.empty())
    throw failure(exit_code::error,
                  told() + "; " + printable(obstacle) + " has been changed meanwhile, and the rest is as it was");
  return told();
}

void log_and_remove(surroundings& around, const std::shared_ptr<removal>& asked, const std::string& path,
                    const std::string& plan) {
  run_task(around.io, std::chrono::steady_clock::now() + asked->wanted.timeout, *asked, make_contact(asked));
  around.out << audited(around, asked, plan, [&] { return remove_listed(around, asked, path); }) << '\n';
  finish_output(around);
}

exit_code remove_confirmed(surroundings& around, const settings& wanted, const std::string& path,
                           const node_listing& listing) {
  const auto asked = std::make_shared<removal>(wanted, listing.nodes);
  try {
    log_and_remove(around, asked, path, plan_of(listing, listing.nodes.size()));
  } catch (const failure&) {
    end_contact(around.io, *asked, std::chrono::steady_clock::now());
    throw;
  }
  end_contact(around.io, *asked, std::chrono::steady_clock::now());
  return exit_code::ok;
}

exit_code delete_below(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  if (path == "/") throw failure(exit_code::usage, "PATH: the top of the tree can not be deleted");
  if (asked.version) throw failure(exit_code::usage, "--version: not with --recursive, which uses the versions read");
  const auto listing = list_deletable(around, wanted, path, asked.force);
  if (!asked.read_write) {
    around.out << plan_of(listing, listing.nodes.size()) << audit_plan(wanted);
    finish_output(around);
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  around.err << plan_of(listing, most_requests_shown) << audit_plan(wanted) << std::flush;
  require_path(around, path, asked.yes, "delete " + counted_nodes(listing.nodes.size()));
  return remove_confirmed(around, wanted, path, listing);
}

}  // namespace

exit_code delete_nodes(surroundings& around, const settings& wanted, const node_request& asked) {
  if (asked.recursive) return delete_below(around, wanted, asked);
  const change_options how{asked.version, asked.force};
  return intervene(around, wanted, asked.path, asked.read_write, [how](zkrecipes::session session, std::string path) {
    return prepare_delete(std::move(session), std::move(path), how);
  });
}

}  // namespace zkadmin
