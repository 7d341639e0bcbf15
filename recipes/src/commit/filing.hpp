// Where the transactions of a two-phase commit are listed: those that are not decided in one folder, the others by the
// hour in which they were begun. So nobody has to list or read what is only kept.
//
//   /path/_undecided/<id>         created with the transaction, in one step
//   /path/_decided/<hour>/<id>    what becomes of it once it is decided: hours since 1970, by the server's clock
//
// Both are empty and only say where to look: what is true of a transaction is what its own node says. A decision does
// not touch them, so that nothing that is wrong with them can stand in its way; they are seen to afterwards.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "commit/ledger.hpp"

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
  mixed,    ///< Perhaps there are transactions without marks: those that an older version began.
  filed,
};
/// `latest`: once all that others have completed is seen. Error: `foreign_data`.
awaitable<outcome<commit_layout>> read_layout(core_ptr session, std::string path, bool latest = true);

/// Creates the path, marked as ours, unless it is there, and the folder for undecided transactions.
awaitable<error_code> open_path(core_ptr session, std::string path);

/// Moves the mark of a decided transaction. No harm if somebody else does the same, or there is none.
awaitable<error_code> file_decided(core_ptr session, std::string node, std::int64_t begun);

/// What is known of a transaction without its data.
struct commit_file {
  enum class kind { gone, foreign, undecided, decided };
  std::string id;
  zkrecipes::stat stat;
  kind what = kind::gone;
};

/// Ids below a node, once all that others have completed is seen; none if there is no such node.
awaitable<outcome<std::vector<std::string>>> list_ids(core_ptr session, std::string folder);

/// Each of these transactions, some at a time. `is_ours`: none of them is foreign; then what is not decided is not
/// read.
awaitable<outcome<std::vector<commit_file>>> read_files(core_ptr session, std::string path,
                                                        std::vector<std::string> ids, bool is_ours);

/// Those that are not decided, and perhaps others.
awaitable<outcome<std::vector<commit_file>>> read_undecided(core_ptr session, std::string path);

/// The same in the background, by whoever has written the decision. If it does not come to that, a coordinator does it.
void file_later(const core_ptr& session, std::string node, std::int64_t begun);

/// Of a transaction that somebody has removed by hand, or that is filed already.
awaitable<error_code> remove_mark(core_ptr session, std::string mark);

/// Makes the mark that it should have.
awaitable<error_code> mark_file(core_ptr session, std::string path, commit_file file);

/// Makes marks for the transactions of an older version, and says so at the path.
awaitable<error_code> adopt_files(core_ptr session, std::string path);

}  // namespace zkrecipes::detail
