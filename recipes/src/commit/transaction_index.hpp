// The transactions of a two-phase commit are listed by marks: those that are not decided in one folder, the others by
// the hour in which they were begun. So decided transactions, which are only kept, need not be listed or read.
//
//   /path/_undecided/<id>         created in one step with the transaction
//   /path/_decided/<hour>/<id>    where the mark is moved after the decision: hours since 1970, by the server's clock
//
// Both are empty and only say where to look: the state of a transaction is in its own node. The write of a decision
// does not touch the marks, so that a problem with a mark can not prevent the decision. The mark is moved afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commit/commit_sight.hpp"

namespace zkrecipes::detail {

std::string undecided_folder(const std::string& path);
std::string undecided_mark(const std::string& path, const std::string& id);
std::string decided_folder(const std::string& path);
/// `begun`: the creation time of the transaction's node, in milliseconds.
std::string decided_mark(const std::string& path, const std::string& id, std::int64_t begun);
/// The beginning of the hour that a folder stands for, in milliseconds; nothing if it is not one of ours.
std::optional<std::int64_t> hour_of(const std::string& folder);

/// How the path is used.
enum class commit_layout {
  missing,  ///< There is no such node.
  mixed,    ///< There may be transactions without marks, begun by an older version.
  indexed,  ///< Every transaction has a mark.
};
/// The layout that the data of the path tells; nothing if the data is not of this recipe, or of a layout that this
/// version does not know.
std::optional<commit_layout> layout_of(const std::string& data);
/// The data of the path when every transaction has a mark; keeps what else the present data says.
std::string indexed_data(const std::string& present = {});

/// The path as it was read.
struct commit_path {
  commit_layout layout = commit_layout::missing;
  std::string data;
  std::int32_t version = 0;
};
/// `latest`: read behind a catch-up, so that all that others have completed is seen. Error: `foreign_data`.
awaitable<outcome<commit_path>> read_layout(core_ptr session, std::string path, bool latest = true);

/// Writes at the path that all transactions have marks. The result is the servers' time of the write.
awaitable<outcome<std::int64_t>> write_indexed(core_ptr session, std::string path, commit_path seen);

/// Creates the path with our data, unless it is there, and the folder for undecided transactions.
awaitable<error_code> open_path(core_ptr session, std::string path);

/// Moves the mark of a decided transaction. Harmless if another client does the same, or if there is no mark.
awaitable<error_code> index_decided(core_ptr session, std::string node, std::int64_t begun);

/// A transaction, as far as it is known without its data.
struct indexed_transaction {
  enum class kind { gone, foreign, undecided, decided };
  std::string id;
  node_stat stat;
  kind what = kind::gone;
};

/// Whether the error of a read does not tell if the node is there.
bool is_untold(const error_code& error);

/// Ids below a node, read behind a catch-up, so that all that others have completed is seen; none if there is no such
/// node.
awaitable<outcome<std::vector<std::string>>> list_ids(core_ptr session, std::string folder);

/// Looks at each of these transactions, some at a time. `is_ours`: none of them is foreign; then those that are not
/// decided are not read.
awaitable<outcome<std::vector<indexed_transaction>>> read_transactions(core_ptr session, std::string path,
                                                                       std::vector<std::string> ids, bool is_ours);

/// The transactions that are not decided, and perhaps some that are.
awaitable<outcome<std::vector<indexed_transaction>>> read_undecided(core_ptr session, std::string path);

/// `index_decided` in the background, by the client that has written the decision. If that fails, a coordinator does
/// it.
void index_later(const core_ptr& session, std::string node, std::int64_t begun);

/// Removes the mark of a transaction that somebody has removed by hand, or that has its mark as a decided one already.
awaitable<error_code> remove_mark(core_ptr session, std::string mark);

/// Creates the mark that a transaction should have.
awaitable<error_code> add_mark(core_ptr session, std::string path, indexed_transaction which);

/// Creates marks for the transactions of an older version, and then writes at the path that all have marks.
awaitable<error_code> adopt_transactions(core_ptr session, std::string path, commit_path seen);

}  // namespace zkrecipes::detail
