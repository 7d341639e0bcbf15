// A queue in which the more urgent overtakes.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes {

struct prioritized {
  std::string data;
  int priority = 100;
};

/// The lower the priority's number, the earlier; of one priority, in order of arrival. Items are nodes named as kazoo's
/// Queue names them (`entry-PPP-`). Everything else of ours stands under `<path>-side`, for kazoo takes every child of the
/// path for an item; its clients know of no claims: beside them only `async_pop` hands out an item once.
///
/// A taker goes by its last list of items, which it reads again, at no additional round trip, at every eighth part of it:
/// in a queue of up to seven items an urgent one overtakes at the latest after one take, in one of 10 000 after 1 250.
/// Thread safety: safe.
class priority_queue : public queue_base {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  priority_queue(session over, std::string path, queue_options options);
  priority_queue(session over, std::string path) : priority_queue(std::move(over), std::move(path), queue_options()) {}

  /// As `queue::async_put`. Priority: 0 to 999, else `bad_arguments`.
  template <class Token>
  auto async_put(std::string data, int priority, Token&& token) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data), priority);
  }

  /// As `queue::async_put_many`.
  template <class Token>
  auto async_put_many(std::vector<prioritized> items, Token&& token) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

 private:
  static void start_put(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string, int);
  static void start_put_many(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr,
                             std::vector<prioritized>);
};

}  // namespace zkrecipes
