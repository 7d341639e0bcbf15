// What there is to take: one list serves many takes, and of the takers that wait only the first watches. It calls as
// many of the others as there are items left.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "line/place.hpp"
#include "queue/layout.hpp"
#include "queue/server_clock.hpp"
#include "queue/spread.hpp"

namespace zkrecipes::detail {

class stock : public std::enable_shared_from_this<stock> {
 public:
  stock(shared_frame frame, std::shared_ptr<server_clock> clock);

  /// The first item that nobody has, as far as we know; waits for one. It is the caller's to claim, until one of
  /// `settled`, `missed`, `put_back` or `skip` follows.
  awaitable<outcome<entry>> draw();
  /// The same, if there is one at hand.
  std::optional<entry> draw_at_hand();
  /// To be called just before a claim is sent: the next list, if one is due, travels along at no further round trip, and
  /// is there when the claim is.
  void look_ahead();
  /// The one that would be drawn next, if that is known.
  const entry* next() const;

  /// It is ours.
  void settled(const std::string& name);
  /// Somebody else was quicker.
  void missed(const std::string& name);
  /// We do not know what became of it: look again.
  void lost_sight_of(const std::string& name);
  /// It can be taken again, at its place.
  void put_back(const std::string& name);
  /// It can not be handed out: not to be drawn again, and its owner is told.
  void skip(const std::string& name, error_code why);

 private:
  using hints = std::array<std::unique_ptr<watch>, 2>;

  awaitable<void> scout();
  awaitable<void> refresh();
  awaitable<error_code> look(bool watching);
  awaitable<error_code> get_in_line();
  awaitable<void> call_others();
  std::optional<entry> called_to() const;
  awaitable<error_code> answer_call();
  void returned();
  awaitable<void> wait_for_change(const hints& watching);
  hints watch_all();
  void apply(const backend::reply& items, const std::vector<std::string>& side);
  void forget_gone(const std::vector<entry>& listed);
  std::size_t ready() const;
  lease_clock::time_point next_time() const;

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  std::deque<entry> items_;         // in order, as last listed, less those drawn
  std::set<std::string> drawn_;     // being claimed
  std::set<std::string> skipped_;
  std::set<std::string> in_doubt_;  // it can be our own doing that they are not to be had
  spread spread_;
  std::size_t listed_ = 0;      // items, in the last list
  std::size_t draws_ = 0;       // since then
  std::size_t draws_left_ = 0;  // until the list is read again
  std::size_t waiting_ = 0;
  bool scouting_ = false;
  bool refreshing_ = false;
  bool is_ours_ = false;            // the path has been seen not to be of another recipe
  bool look_again_ = false;         // one that the scout has left out can be had
  bool steps_aside_ = false;        // into the line, although there are items
  bool calling_ = false;
  lease_clock::time_point next_look_{};  // of the one who is first in line
  place_ptr place_;                 // in the line of those that wait
  error_code failure_;
  std::size_t failures_ = 0;
  condition ready_;
};

}  // namespace zkrecipes::detail
