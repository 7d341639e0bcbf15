// The transactions of a two-phase commit are listed by marks: those that are not decided in one folder, the others by
// the hour in which they were begun. So decided transactions, which are only kept, need not be listed or read.
//
//   /path/_undecided/<id>         created in one step with the transaction
//   /path/_decided/<hour>/<id>    where the mark is moved after the decision: hours since 1970, by the server's clock
//
// Both are empty and only say where to look: the state of a transaction is in its own node. The write of a decision
// does not touch the marks, so that a problem with a mark can not prevent the decision. The mark is moved afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// The format of a two-phase commit in ZooKeeper.
//
// /path/<id>                   {"zkrecipes":"commit","by":"<guid>","participants":["a","b"],"data":"...",
// "decision":"pending","reason":""}; written once more, with the decision
// /path/<id>/vote-<participant>   {"zkrecipes":"vote","vote":"yes","reason":""}; never changed
// /path/_undecided, /path/_decided   marks, by which transactions are found: see transaction_index.hpp
// /path/_coordinator           the line of the coordinators

struct commit_record {
  std::string by;  ///< GUID of the operation that began it.
  std::vector<std::string> participants;
  std::string data;
  commit_outcome outcome;
  json_object unknown_fields{};  ///< Fields that a later version of the library has added.

  bool names(const std::string& participant) const;
  bool decided() const noexcept { return outcome.decision != decision::pending; }
};

std::string serialize(const commit_record& record);
std::optional<commit_record> parse_commit(const std::string& data);

std::string serialize(const commit_vote& vote);
/// Nothing if the data is not a vote. The name of the participant is not part of the data.
std::optional<commit_vote> parse_vote(const std::string& data);

/// Whether a text can be the id of a transaction, or the name of a participant.
bool is_transaction_id(std::string_view id);
bool is_participant(std::string_view name);

std::string vote_node(const std::string& node, const std::string& participant);
/// The participants whose votes are not among the children.
std::vector<std::string> missing_votes(const commit_record& record, const std::vector<std::string>& children);

/// What the data of the path of a two-phase commit says about the marks.
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

// The names of the marks by which the transactions of a two-phase commit are listed: see transaction_index.hpp.

std::string undecided_folder(const std::string& path);
std::string undecided_mark(const std::string& path, const std::string& id);
std::string decided_folder(const std::string& path);
/// `begun`: the creation time of the transaction's node, in milliseconds.
std::string decided_mark(const std::string& path, const std::string& id, std::int64_t begun);
/// The beginning of the hour that a folder stands for, in milliseconds; nothing if it is not one of ours.
std::optional<std::int64_t> hour_of(const std::string& folder);

/// A transaction, as far as it is known without its data.
struct indexed_transaction {
  enum class kind { gone, foreign, undecided, decided };
  std::string id;
  node_stat stat;
  kind what = kind::gone;
};

/// The path of a two-phase commit and the marks below it. A copy serves as well as the original.
class transaction_index {
 public:
  transaction_index(core_ptr session, std::string path);

  /// Creates the path with our data, unless it is there, and the folder for undecided transactions.
  awaitable<error_code> open();
  /// `latest`: read behind a catch-up, so that all that others have completed is seen. Error: `foreign_data`.
  awaitable<outcome<commit_path>> read_path(bool latest = true);
  /// Writes at the path that all transactions have marks. The result is the servers' time of the write.
  awaitable<outcome<std::int64_t>> write_indexed(commit_path seen);
  /// Creates marks for the transactions of an older version, and then writes at the path that all have marks.
  awaitable<error_code> adopt(commit_path seen);

  /// The transactions that are not decided, and perhaps some that are.
  awaitable<outcome<std::vector<indexed_transaction>>> read_undecided();
  /// The ids of those that are not decided.
  awaitable<outcome<std::vector<std::string>>> undecided_ids();
  /// The names of the folders of decided transactions.
  awaitable<outcome<std::vector<std::string>>> hours();
  /// The transactions that have marks in the folder of this hour.
  awaitable<outcome<std::vector<indexed_transaction>>> read_hour(std::string hour);

  /// Creates the mark that a transaction should have.
  awaitable<error_code> add_mark(indexed_transaction which);
  /// Moves the mark of a decided transaction. Harmless if another client does the same, or if there is no mark.
  awaitable<error_code> move_mark(std::string id, std::int64_t begun);
  /// The same in the background, by the client that has written the decision. If that fails, a coordinator does it.
  void move_mark_later(std::string id, std::int64_t begun) const;
  /// Removes the mark of a transaction that somebody has removed by hand, or that has its mark as a decided one
  /// already.
  awaitable<error_code> remove_mark(std::string mark);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<outcome<std::vector<std::string>>> list_ids(std::string folder);
  awaitable<outcome<std::vector<indexed_transaction>>> read(std::vector<std::string> ids, bool is_ours);
  awaitable<outcome<std::vector<indexed_transaction>>> read_some(std::vector<std::string> ids, bool is_ours);
  awaitable<void> provide_folders(std::string mark);

  core_ptr session_;
  std::string path_;
};

}  // namespace zkrecipes::detail
