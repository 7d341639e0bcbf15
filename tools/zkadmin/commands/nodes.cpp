// `zkadmin ls` and `zkadmin tree`.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/text.hpp"
#include "change/node_change.hpp"
#include "cluster/node_walk.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/intervene.hpp"
#include "report/formats.hpp"
#include "report/node_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// Prints the listing; its shortcomings are told on `err` and by the exit code.
exit_code print_listing(surroundings& around, const node_listing& listing, node_format format, listing_style style,
                        const std::optional<failure>& trouble) {
  if (trouble && listing.nodes.empty()) throw *trouble;
  around.out << to_text(listing, format, style);
  finish_output(around);
  for (const auto& note : listing.notes) around.err << "zkadmin: note: " << printable(to_string(note)) << '\n';
  if (trouble) throw *trouble;
  if (listing.refused)
    throw failure(exit_code::auth, "something may not be read; give credentials (digest_file or ZKADMIN_DIGEST)");
  if (!listing.complete) throw failure(exit_code::error, "there are more nodes than these");
  return exit_code::ok;
}

struct walked {
  node_listing listing{};
  std::optional<failure> trouble{};
};

walked walk(surroundings& around, const settings& wanted, const std::string& path, std::size_t depth) {
  const auto walker = std::make_shared<std::unique_ptr<node_walk>>();
  const auto trouble =
      run_errand(around, wanted, [=](zkrecipes::session session, deadline until) -> asio::awaitable<void> {
        *walker = std::make_unique<node_walk>(std::move(session), path, walk_limits{depth, walk_limits{}.nodes, until});
        co_await (*walker)->run();
      });
  if (!*walker) return {{}, trouble};
  return {(*walker)->listing(), trouble};
}

exit_code list_short(surroundings& around, const settings& wanted, const std::string& path, node_format format) {
  const auto listing = std::make_shared<node_listing>();
  const auto trouble = run_errand(around, wanted, [=](zkrecipes::session session, deadline) -> asio::awaitable<void> {
    auto names = co_await list_names(std::move(session), path);
    *listing = std::move(names);
  });
  if (trouble) throw *trouble;
  return print_listing(around, *listing, format, listing_style::names, trouble);
}

}  // namespace

exit_code list_nodes(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  if (!asked.recursive && !asked.is_long) return list_short(around, wanted, path, asked.format);
  auto [listing, trouble] = walk(around, wanted, path, asked.recursive ? walk_limits{}.depth : 1);
  if (!listing.nodes.empty() && listing.nodes.front().depth == 0) listing.nodes.erase(listing.nodes.begin());
  auto style = asked.recursive ? listing_style::paths : listing_style::long_names;
  if (asked.recursive && asked.is_long) style = listing_style::long_paths;
  return print_listing(around, listing, asked.format, style, trouble);
}

exit_code show_tree(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto [listing, trouble] = walk(around, wanted, path, asked.depth.value_or(walk_limits{}.depth));
  return print_listing(around, listing, asked.format, listing_style::tree, trouble);
}

// `zkadmin get` and `zkadmin stat`.

namespace {

bool is_to_terminal(const surroundings& around) { return &around.out == &std::cout && ::isatty(STDOUT_FILENO) == 1; }

std::string data_for_terminal(const std::string& path, const std::string& data) {
  if (!is_showable(data))
    throw failure(exit_code::error, printable(path) + " holds " + std::to_string(data.size()) +
                                        " bytes that a terminal can not show; add --hex or --base64, or write to a "
                                        "file or a pipe");
  auto text = printable_lines(data);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string data_for_people(const node_reading& node, data_form form, bool is_terminal) {
  switch (form) {
    case data_form::hex: return hex_dump(node.data);
    case data_form::base64: return base64(node.data) + "\n";
    case data_form::plain: break;
  }
  return is_terminal ? data_for_terminal(node.view.path, node.data) : node.data;
}

}  // namespace

exit_code show_data(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto node = std::make_shared<node_reading>();
  const auto trouble = run_errand(around, wanted, [=](zkrecipes::session session, deadline) -> asio::awaitable<void> {
    auto found = co_await read_node(std::move(session), path);
    *node = std::move(found);
  });
  if (trouble) throw *trouble;
  const bool is_for_people = asked.format == node_format::table;
  around.out << (is_for_people ? data_for_people(*node, asked.form, is_to_terminal(around))
                               : data_text(node->view, node->data, asked.format));
  finish_output(around);
  return exit_code::ok;
}

exit_code show_stat(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto node = std::make_shared<node_view>();
  const auto trouble = run_errand(around, wanted, [=](zkrecipes::session session, deadline) -> asio::awaitable<void> {
    auto found = co_await read_stat(std::move(session), path);
    *node = std::move(found);
  });
  if (trouble) throw *trouble;
  around.out << stat_text(*node, asked.format);
  finish_output(around);
  return exit_code::ok;
}

// `zkadmin set`.

namespace {

constexpr std::size_t longest_written = 16 * 1024 * 1024;  // Far more than a server takes.

struct closing {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Nothing if a read fails: a folder, for instance, can be opened, but not read.
std::optional<std::string> read_all(std::FILE* from, const std::string& name) {
  std::string text(longest_written + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), from));
  if (std::ferror(from)) return std::nullopt;
  if (text.size() > longest_written) throw failure(exit_code::usage, name + " is longer than 16 MiB");
  return text;
}

std::string data_of_input() {
  auto data = read_all(stdin, "standard input");
  if (!data) throw failure(exit_code::error, "standard input could not be read: nothing was sent");
  return std::move(*data);
}

std::string data_of_file(const std::string& name) {
  const std::unique_ptr<std::FILE, closing> file(std::fopen(name.c_str(), "rb"));
  auto data = file ? read_all(file.get(), printable(name)) : std::nullopt;
  if (!data) throw failure(exit_code::usage, "--file: cannot read " + printable(name));
  return std::move(*data);
}

std::string data_of(const node_request& asked) {
  if (asked.data) return *asked.data;
  return asked.file ? data_of_file(*asked.file) : data_of_input();
}

}  // namespace

exit_code set_data(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto data = data_of(asked);
  const change_options how{asked.version, asked.force};
  return intervene(around, wanted, asked.path, asked.read_write,
                   [data, how](zkrecipes::session session, std::string path) {
                     return prepare_set(std::move(session), std::move(path), data, how);
                   });
}

// `zkadmin delete`.

namespace {

constexpr std::size_t most_requests_shown = 20;  // Before the question; without --rw all are shown.

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
  return text + counted(listing.nodes.size(), "node") + " with " + std::to_string(bytes) + " bytes of data\n";
}

std::string result_text(const removal_result& result, std::size_t count, const std::string& path) {
  auto text = "deleted " + std::to_string(result.deleted) + " of " + counted(count, "node") + " at and below " + path;
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
  require_path(around, path, asked.yes, "delete " + counted(listing.nodes.size(), "node"));
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
