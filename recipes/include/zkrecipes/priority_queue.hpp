// A queue in which urgent items overtake the others.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes {

/// An item to put, and its priority.
struct prioritized {
  std::string data;
  int priority = 100;
};

/// The lower the number of the priority, the earlier the item is taken; items of one priority in order of arrival.
/// Items are nodes named as kazoo's Queue names them (`entry-PPP-`). All our other nodes stand under `<path>-side`,
/// because kazoo takes every child of the path for an item. Its clients do not know claims: beside them only
/// `async_pop` hands out an item once.
///
/// A taker draws from its last list of items. It reads the list again, at no additional round trip, as soon as it has
/// drawn 1/256 of it: an urgent item overtakes a queue of up to 255 items after one take at the latest, one of 10 000
/// after 39. Thread safety: safe.
class priority_queue : public queue_base {
 public:
  priority_queue() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  priority_queue(session over, std::string path, queue_options options);
  priority_queue(session over, std::string path) : priority_queue(std::move(over), std::move(path), queue_options()) {}

  /// Puts one item behind those of its priority, 0 (the most urgent) to 999; otherwise as `queue::async_put`.
  ///
  /// Signature: `void(error_code, std::string)`, the name.
  /// Errors: as `queue::async_put`; `bad_arguments` also where the priority is out of bounds.
  /// Cancellation: as `queue::async_put`.
  /// Thread safety: as the class says.
  /// Cost: as `queue::async_put`.
  template <token_for<std::string> Token = default_token>
  auto async_put(std::string data, int priority, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data), priority);
  }

  /// Puts all items, each behind those of its priority, or none of them; bounds as `queue::async_put_many`.
  ///
  /// Signature: `void(error_code, std::vector<std::string>)`, the names.
  /// Errors: as `queue::async_put_many`; `bad_arguments` also where a priority is out of bounds.
  /// Cancellation: as `queue::async_put_many`.
  /// Thread safety: as the class says.
  /// Cost: as `queue::async_put_many`.
  template <token_for<std::vector<std::string>> Token = default_token>
  auto async_put_many(std::vector<prioritized> items, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

 private:
  static void start_put(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string, int);
  static void start_put_many(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr,
                             std::vector<prioritized>);
};

}  // namespace zkrecipes
