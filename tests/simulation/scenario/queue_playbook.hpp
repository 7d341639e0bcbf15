// The operations of one kind of queue, to be tried under every single fault. Afterwards each item is in the queue once
// or gone, as the operation reported, and no claim is left.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "run/stage.hpp"
#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

// A queue of any kind: FIFO, priority or delay.

class any_queue {
 public:
  any_queue(const session& over, detail::queue_kind kind, const std::string& path, const queue_options& options = {}) {
    using detail::queue_kind;
    if (kind == queue_kind::fifo) fifo_ = std::make_unique<queue>(over, path, options);
    if (kind == queue_kind::priority) by_priority_ = std::make_unique<priority_queue>(over, path, options);
    if (kind == queue_kind::delayed) delayed_ = std::make_unique<delay_queue>(over, path, options);
  }

  queue_base& base() const {
    if (fifo_) return *fifo_;
    return by_priority_ ? static_cast<queue_base&>(*by_priority_) : *delayed_;
  }
  queue& fifo() const { return *fifo_; }
  /// Whether several items can be put at once: not into a delay queue.
  bool puts_many() const noexcept { return !delayed_; }

  /// Ignores `priority` or `delay` if this kind of queue has no use for it.
  template <class Token>
  auto async_put(std::string data, int priority, std::chrono::milliseconds delay, Token&& token) {
    if (fifo_) return fifo_->async_put(std::move(data), std::forward<Token>(token));
    if (delayed_) return delayed_->async_put(std::move(data), delay, std::forward<Token>(token));
    return by_priority_->async_put(std::move(data), priority, std::forward<Token>(token));
  }
  template <class Token>
  auto async_put_many(const std::vector<prioritized>& items, Token&& token) {
    if (by_priority_) return by_priority_->async_put_many(items, std::forward<Token>(token));
    std::vector<std::string> plain;
    for (const auto& each : items) plain.push_back(each.data);
    return fifo_->async_put_many(std::move(plain), std::forward<Token>(token));
  }

 private:
  std::unique_ptr<queue> fifo_;
  std::unique_ptr<priority_queue> by_priority_;
  std::unique_ptr<delay_queue> delayed_;
};

// A queue on which one operation is tried under one fault, and the checks on its contents afterwards.

/// The contents of a queue, read from its nodes.
class queue_contents {
 public:
  queue_contents(const tree& nodes, const detail::queue_layout& where);

  /// How often this data is in the queue (`waiting`) and among the dead letters (`dead`).
  std::ptrdiff_t waiting(const std::string& data) const;
  std::ptrdiff_t dead(const std::string& data) const;
  /// The items' data, in order of their names.
  std::vector<std::string> in_order() const;
  /// The node of the item with this name; null if there is none.
  const node* item(const std::string& name) const;
  const node* node_at(const std::string& path) const { return nodes_.find(path); }

 private:
  const tree& nodes_;
  const detail::queue_layout& where_;
  std::vector<std::pair<std::string, std::string>> items_;  // name and data
  std::vector<std::string> letters_;                        // data of the dead letters
};

/// The results of the operation.
struct queue_report {
  bool took = false;  ///< An item was handed out; `end` is the result of the operation on it.
  error_code end;
  message item;
  std::vector<std::string> names;
};

using queue_check = std::function<void(stage& in, const queue_contents& seen, const queue_report& told)>;

class queue_trial : public std::enable_shared_from_this<queue_trial> {
 public:
  static constexpr const char* path = "/queue";
  /// The name of the first, second, third ... item that is in the queue from the beginning (`item` 1, 2, 3 ...).
  static std::string name_of(detail::queue_kind kind, int item);

  queue_trial(actor& by, detail::queue_kind kind, queue_options options);

  /// `check` is called with the contents of the queue when everything is over.
  void check_in_the_end(queue_check check);

  /// Takes an item, checks it (`has_taken`), and goes on with `then()`.
  template <class Then>
  void take(any_queue& from, Then then) {
    by.all().start<message>(
        by.signal(), [&from](auto token) { from.base().async_take(std::move(token)); },
        [self = shared_from_this(), then](error_code error, message item) {
          if (error) return self->end(error);
          self->has_taken(item);
          self->told->item = std::move(item);
          then();
        });
  }

  /// Starts the operation `begin` on the item in hand. If it is cancelled the item stays ours, and the operation is
  /// repeated.
  template <class Begin>
  void settle(Begin begin) {
    told->took = true;
    by.all().start<>(by.signal(), begin, [self = shared_from_this(), begin](error_code error) {
      if (error != asio::error::operation_aborted) return self->end(error);
      self->by.was_cancelled();
      self->by.all().start<>(begin, [self, error](error_code again) {
        self->by.in().require(!again || again == errc::superseded, "an item is settled in the end", again.message());
        self->told->end = again;
        self->by.done(error);
      });
    });
  }

  /// Gives an item back, and ends the trial with `with`.
  void give_back(const message& item, error_code with);

  /// The operation has ended.
  void end(error_code error) {
    told->end = error;
    by.done(error);
  }

  /// Checks that the item is still in the queue and claimed by us, that its number of attempts is right, and that a
  /// delayed item was not claimed before its time.
  void has_taken(const message& item) const;

  actor& by;
  detail::queue_layout where;
  any_queue queue;
  std::shared_ptr<queue_report> told = std::make_shared<queue_report>();
};

using queue_trial_ptr = std::shared_ptr<queue_trial>;

/// Makes scripts of one kind of queue.
class queue_playbook {
 public:
  explicit queue_playbook(detail::queue_kind kind) : kind_(kind) {}

  std::vector<script> all() &&;

 private:
  using nodes_before = std::vector<std::pair<std::string, std::string>>;

  script& add(const std::string& what, nodes_before before, std::function<void(const queue_trial_ptr&)> run,
              queue_check check, queue_options options = {});
  /// Items "a", "b" and so on, and a dead letter "dead" if asked for.
  nodes_before filled(int items, bool letter = false) const;
  void put();
  void take();
  void pop();
  void acknowledge();
  void give_back();
  void bury();
  void letters();
  void look();
  void produce();

  detail::queue_kind kind_;
  std::vector<script> made_;
};

/// Whether this result leaves open what has happened: unknown outcome, expired session, or cancelled.
bool is_open(error_code end);

void expect(stage& in, const char* rule, const std::string& what, std::ptrdiff_t found, std::ptrdiff_t expected);

/// Checks that the item is in the queue under its old name, once.
void expect_in_place(stage& in, const queue_contents& seen, detail::queue_kind kind, int item);

}  // namespace zkrecipes::simulation
