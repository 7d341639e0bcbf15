// Entering a line: the node that stands for us is created surely, and the line is listed, in one round trip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "line/line_spec.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Which node stands for us in a line.
struct line_place {
  std::string guid;       ///< In its name.
  incarnation_ptr bound;  ///< In which it is created; null before anything was sent.
  std::string path;       ///< Empty until it is known to be there.
  std::int64_t token = 0;
  std::int32_t sequence = 0;
  /// A create whose reply was lost may have made a second node, which may still turn up.
  bool may_have_ghost = false;
};

/// The answers to the requests that were sent along with the creation of our node.
struct line_reading {
  member_list members;                             ///< Null if the list was lost.
  std::shared_ptr<const backend::reply> parent{};  ///< If the line reads it, and the list has come.
};

/// Creates our node (`ours` has its GUID already) and lists the line: one round trip if the parent exists. Behind an
/// error, too, `ours` tells what may have to be removed. Errors: those of `check_neighbours`, ... The references have
/// to outlive it.
awaitable<error_code> enter_line(const core_ptr& session, const line_spec& line, const std::string& data,
                                 line_place& ours, line_reading& seen);

/// Sees that the line can be used, judged by the numbers of the members of other recipes (`strangers_among`). Those do
/// not know that we are here. If one of them came before us, the path is not ours to use, and our node is removed. If
/// it came behind us, it has to see that itself. Errors: `foreign_data`, `sequence_exhausted`.
error_code check_neighbours(core& session, const line_place& ours, const std::vector<std::int32_t>& strangers);

/// One list of a line for all of a session who get in line at the same time: among ten thousand who do so, each with a
/// list of its own would be too much for any process.
class roll_call : public std::enable_shared_from_this<roll_call> {
 public:
  /// Asks for the list, and for the parent if the line reads it, behind everything that has been sent so far. All who
  /// do so in the same turn of the strand share requests and answers.
  static std::shared_ptr<roll_call> of(const core_ptr& session, const line_spec& line);

  /// Waits for the answer. Null: there is none, or the waiting was cancelled.
  awaitable<member_list> wait();
  /// Afterwards: the numbers of those who are of another recipe, see `strangers_among`.
  const std::vector<std::int32_t>& strangers() const noexcept { return strangers_; }
  /// The parent, if the line reads it; null without an answer.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_node_; }

  roll_call(core_ptr session, const line_spec& line);

 private:
  bool suits(const line_spec& line) const;
  awaitable<void> ask();
  awaitable<void> list();
  exchange_ptr read_parent();

  core_ptr session_;
  std::string parent_;
  std::span<const std::string_view> accepted_;
  parent_reading reads_parent_;
  bool answered_ = false;
  member_list present_;
  std::vector<std::int32_t> strangers_;
  std::shared_ptr<const backend::reply> parent_node_;
  condition changed_;
};

}  // namespace zkrecipes::detail
