#include "cluster/node_change_request.hpp"

#include <utility>

#include "cluster/node_reading.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {

namespace asio = boost::asio;

asio::awaitable<void> require_free(zkrecipes::session session, std::string path, bool force) {
  if (force) co_return;
  const auto reason = co_await recipe_that_keeps(std::move(session), path);
  if (!reason.empty())
    throw failure(exit_code::error,
                  printable(path + ": " + reason) + ": nothing was sent; --force does it all the same");
}

asio::awaitable<intervention> prepare_set(zkrecipes::session session, std::string path, std::string data,
                                          change_options how) {
  co_await require_free(session, path, how.force);
  const auto node = co_await read_stat(session, path);
  intervention change;
  change.done = "wrote " + std::to_string(data.size()) + " bytes to " + path;
  change.if_gone = path + " has just been deleted: nothing was written";
  change.if_changed = path + " has another version by now: nothing was written, look at it again";
  change.requests.set(path, std::move(data), how.version.value_or(node.stat->version));
  co_return change;
}

asio::awaitable<intervention> prepare_delete(zkrecipes::session session, std::string path, change_options how) {
  co_await require_free(session, path, how.force);
  const auto node = co_await read_stat(session, path);
  if (node.stat->num_children > 0)
    throw failure(exit_code::error, printable(path) + " has children, " + std::to_string(node.stat->num_children) +
                                        " of them: nothing was sent; --recursive deletes them too");
  intervention change;
  change.done = "deleted " + path;
  change.if_gone = path + " has just been deleted by another";
  change.if_changed = path + " has another version by now: nothing was deleted, look at it again";
  change.requests.remove(path, how.version.value_or(node.stat->version));
  co_return change;
}

}  // namespace zkadmin
