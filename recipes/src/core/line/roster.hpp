// The members of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// A line as one of its members knows it: the members that were last listed, less those that are known to have left
/// since. It does no I/O. Members of one session share the list for as long as none of them knows of a change.
class roster {
 public:
  /// Our own node: its name and its number.
  struct own {
    std::string_view name;
    std::int32_t sequence;
  };

  /// Takes over a list. A member that has `ghost`, if that is not empty, in its name and is not `self` is left out: it
  /// is a second node of ours, which a create has made whose reply was lost, and it must not block us. The roster is
  /// current afterwards, unless we are not in the list.
  void assign(member_list listed, const own& self, std::string_view ghost);

  /// False before the first list, and once so much has changed that the line has to be listed again.
  bool is_current() const noexcept { return current_; }

  /// The members, ourselves included. After `forget_all_but` they are only two.
  std::span<const member> members() const noexcept;
  /// The list itself, and how many of those in front have left since. Shared, unless somebody else has left, too.
  const member_list& list() const noexcept { return members_; }
  std::size_t departed_in_front() const noexcept { return first_; }
  /// Our index among `members`.
  std::size_t self() const noexcept { return self_; }
  /// How many members are ahead of us.
  std::size_t position() const noexcept { return forgotten_ + self_; }
  /// Exactly one member is ahead of us, as far as we know.
  bool is_next() const noexcept { return current_ && position() == 1; }
  /// Somebody is behind us, as far as we know.
  bool has_followers() const noexcept { return current_ && self_ + 1 < members().size(); }

  /// Members ahead of us, by name, have left; those in `watched` would have been noticed. Nobody can have come before
  /// us since the list was read. So if all who were ahead are watched, the rest of the list is still complete. If only
  /// some are watched, others may have left as well: then the rest tells whether it is our turn, but not whom to wait
  /// for, and in that case the roster is not current any more.
  void depart(const std::vector<std::string>& names, const stretch& watched, const blocker& who_first);

  /// Takes over a list of others of the session, without its first members (`departed_in_front`) and those of these
  /// names that are in front now, if it lists us and shows that it is our turn. Returns whether that is so.
  bool take_turn_by(const member_list& listed, std::size_t departed_in_front, const std::vector<std::string>& gone,
                    const own& self, const blocker& who_first);

  /// The list is too old to act on.
  void expire() noexcept { current_ = false; }

  /// What the data of a member says of `member::lets_pass`.
  void set_pass(std::size_t which, bool lets_pass);

  /// Forgets everybody but ourselves and the member ahead of us with this index, and returns where that member is now.
  /// This saves memory where thousands wait.
  stretch forget_all_but(std::size_t ahead);

 private:
  void remove_ahead(const std::vector<std::string>& names);

  member_list members_;    // as last listed, without ghosts of ours; null before
  std::size_t first_ = 0;  // the first of them that is known to be there
  std::size_t self_ = 0;
  std::size_t forgotten_ = 0;  // how many members ahead of us are not in `members_`
  bool current_ = false;
};

}  // namespace zkrecipes::detail
