#pragma once

#include <new>

#include <boost/asio/associated_executor.hpp>

namespace zkrecipes::detail {

/// The executor of a handler; without an associated one `base`.
template <class Handler, class Executor>
auto handler_executor(const Handler& handler, const Executor& base) {
  auto executor = boost::asio::get_associated_executor(handler, base);
  if (!executor) throw std::bad_alloc();  // what `any_completion_handler` makes of it
  return executor;
}

}  // namespace zkrecipes::detail
