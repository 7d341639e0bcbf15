#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/queue_consumer.hpp>

namespace zkrecipes {

namespace asio = boost::asio;

queue_consumer::queue_consumer(queue from) : queue_(std::move(from)) {}

asio::awaitable<void> queue_consumer::inaugurate(term) { co_return; }

asio::awaitable<void> queue_consumer::hand_over(term, term_end) { co_return; }

asio::awaitable<void> queue_consumer::execute(term present) {
  using namespace asio::experimental::awaitable_operators;
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  auto waiting = present.idle();
  auto first = co_await (queue_.async_next(token) || present.async_ending(token));
  if (first.index() != 0) co_return;
  waiting.reset();
  auto& [error, item] = std::get<0>(first);
  // A cancelled call or the end of the session is no failure of ours, because the term ends, too.
  if (error == asio::error::operation_aborted || is_fatal(error)) co_return;
  if (error) throw boost::system::system_error(error, "queue " + queue_.path());
  auto effects = co_await process(present, item);
  effects.append(queue_.removal(item));
  auto committed = co_await present.async_commit(std::move(effects), token);
  const auto why = std::get<0>(committed);
  // Superseded: none of our effects happened, and the term ends.
  if (!why || why == errc::superseded || why == errc::outcome_unknown || is_fatal(why)) co_return;
  // If somebody else has removed the message, none of its effects happened, and the next one comes.
  auto zk = present.get_session();
  auto looking = zk.async_exists(queue_.path() + '/' + item.name, token);
  auto looked = co_await std::move(looking);
  if (std::get<0>(looked)) co_return;
  throw boost::system::system_error(why, "effects and removal of message " + item.name + " of queue " + queue_.path());
}

}  // namespace zkrecipes
