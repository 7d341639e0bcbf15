// The items that can be taken. One list serves many takes. When takers wait in line, only the first of them watches the
// queue; it calls as many of the others as there are items left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "line/own_node.hpp"
#include "queue/claims.hpp"
#include "queue/queue_layout.hpp"

namespace zkrecipes::detail {

/// Where in a list of items a taker draws next, so that several takers do not draw the same items.
/// A taker does not know how many others there are. It learns that from its claims: the part of the list in which it
/// draws, its reach, doubles with each claim that comes too late and shrinks a little with each that is in time, which
/// keeps both in a fixed proportion. A taker that meets no other draws at the front.
///
/// From a random place within its reach a taker goes on item by item for a while. So two takers that meet do so once,
/// and not at each item, and a list that is out of date costs one late claim per run.
class spread {
 public:
  explicit spread(std::function<std::uint64_t()> random) : random_(std::move(random)) {}

  /// The index of the item that will be drawn next, among the first `ready` items; `ready` if it will be chosen at
  /// random.
  std::size_t next(const std::deque<entry>& items, std::size_t ready) const;
  /// Chooses the item to draw.
  std::size_t pick(const std::deque<entry>& items, std::size_t ready);
  void was_in_time();
  /// Another taker was quicker; `ready` items are left to choose from.
  void was_late(std::size_t ready);
  /// This many other takers begin at the same time.
  void meets(std::size_t others);
  /// A new list was read, with this many claims of other takers in it.
  void listed(std::size_t others);
  /// As far as we know there are fewer items than takers, so that most claims would be too late.
  bool is_crowded(std::size_t ready) const noexcept;
  /// To be called when our turn in the line of waiting takers has come: what was known of other takers is out of date.
  void forget() noexcept;

 private:
  std::size_t begin_run(std::size_t ready);

  std::function<std::uint64_t()> random_;
  double reach_ = 1;
  std::size_t run_left_ = 0;  // draws until another random place is chosen
  entry last_;                // the item drawn last
  bool is_list_new_ = false;
  bool was_late_ = false;  // a claim was late since the last list
};

class item_list : public std::enable_shared_from_this<item_list> {
 public:
  item_list(shared_frame frame, std::shared_ptr<server_clock> clock, std::shared_ptr<const claims> ours);

  /// Waits for an item that no taker has, as far as we know, and draws one as `spread` chooses. The caller has to claim
  /// it, and then to call one of `settled`, `missed`, `lost_sight_of`, `put_back` or `skip`.
  awaitable<outcome<entry>> draw();
  /// The same without waiting; nothing if no item is at hand.
  std::optional<entry> draw_at_hand();
  /// To be called just before a claim is sent: if the next list is due, it is requested in the same round trip and
  /// arrives with the claim's answer.
  void look_ahead();
  /// The item that would be drawn next; null if that is not known.
  const entry* next() const;

  /// The claim succeeded: the item is ours.
  void settled(const std::string& name);
  /// Another taker was quicker, or the item has gone.
  void missed(const std::string& name);
  /// It is unknown what became of the claim: the list is read again.
  void lost_sight_of(const std::string& name);
  /// The item can be taken again, at its place.
  void put_back(const std::string& name);
  /// The item can not be handed out: it is not drawn again, and `on_unavailable_item` is told.
  void skip(const std::string& name, error_code why);

 private:
  using hints = std::array<std::unique_ptr<watch>, 2>;

  class drawing;

  awaitable<void> scout();
  awaitable<error_code> search();
  awaitable<void> refresh();
  awaitable<void> list_once();
  awaitable<error_code> look(bool watching);
  awaitable<error_code> get_in_line();
  awaitable<error_code> step_back();
  awaitable<void> call_others();
  std::optional<entry> called_to() const;
  awaitable<error_code> answer_call();
  void returned();
  awaitable<void> wait_for_change(const hints& watching);
  hints watch_all();
  void apply(const backend::reply& items, const std::vector<std::string>& side);
  std::size_t ready() const;
  lease_clock::time_point next_time() const;

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  std::shared_ptr<const claims> claims_;
  std::deque<entry> items_;      // in order, as last listed, less those drawn
  std::set<std::string> drawn_;  // being claimed
  std::set<std::string> skipped_;
  std::set<std::string> in_doubt_;  // perhaps claimed or removed by ourselves: a miss says nothing of other takers
  spread spread_;
  std::size_t listed_ = 0;      // number of items in the last list
  std::size_t draws_ = 0;       // draws since then
  std::size_t draws_left_ = 0;  // draws until the list is read again
  std::size_t waiting_ = 0;
  std::size_t due_ = 0;  // how many draws our place in line is still good for
  bool scouting_ = false;
  bool refreshing_ = false;
  bool is_ours_ = false;      // a list has shown that no other recipe uses the path
  bool look_again_ = false;   // an item that the scout left out can be taken again
  bool steps_aside_ = false;  // gets in line although there are items, because of late claims
  bool calling_ = false;
  lease_clock::time_point next_look_{};  // the first in line does not look again before this
  own_node_ptr node_;                    // our node in the line of waiting takers
  error_code failure_;
  std::size_t failures_ = 0;
  condition ready_;    // there are items to draw, or the scout has ended
  condition changed_;  // for the scout: a watch has fired, an item has come back, or something happened to `node_`
};

}  // namespace zkrecipes::detail
