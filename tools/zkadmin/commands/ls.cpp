// `zkadmin ls` and `zkadmin tree`.
#include <memory>
#include <ostream>
#include <utility>

#include "cluster/node_walk.hpp"
#include "commands/errand.hpp"
#include "commands/node_commands.hpp"
#include "report/node_report.hpp"
#include "settings/values.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
