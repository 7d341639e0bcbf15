// Many locks with waiters, queues and topics, in one session of this process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/session.hpp>

namespace bench {

/// They stay until the end.
class recipe_crowd {
 public:
  /// Locks at `root`/lock-0 and so on with three clients each, as many queues with ten items, and topics of eight
  /// shards with a group of consumers. Returns when all are there.
  recipe_crowd(boost::asio::io_context& io, std::string root, int locks, int queues, int topics);
  ~recipe_crowd();
  recipe_crowd(const recipe_crowd&) = delete;

  /// The holder of one lock leaves it and gets in line again; each call takes the next lock.
  void change();

 private:
  boost::asio::awaitable<bool> make(int queues, int topics);
  boost::asio::awaitable<void> make_line(std::string path, std::string name, int members, bool is_ephemeral);
  boost::asio::awaitable<void> make_topic(std::string path);
  boost::asio::awaitable<void> pass_on(std::string path);
  boost::asio::awaitable<bool> close();

  boost::asio::io_context& io_;
  std::string root_;
  int locks_;
  zkrecipes::session session_;
  int next_ = 0;
};

}  // namespace bench
