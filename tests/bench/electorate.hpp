// Many elections with many candidates, in a few sessions of this process.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/election.hpp>

namespace bench {

/// The candidates stay until the end. Each session has one in each election.
class electorate {
 public:
  /// Elections are at `root`/election-0 and so on. Returns when all candidates stand in line.
  electorate(boost::asio::io_context& io, std::string root, int elections, int candidates);
  ~electorate();
  electorate(const electorate&) = delete;

  /// The leader of one election gives up and gets in line again; each call takes the next election.
  void change();

 private:
  struct seat {
    std::size_t session;
    zkrecipes::ownership held;
  };

  void stand(int which, std::size_t session);
  std::string path(int which) const { return root_ + "/election-" + std::to_string(which); }
  boost::asio::awaitable<bool> make_folder();
  boost::asio::awaitable<bool> until_all_stand();
  boost::asio::awaitable<bool> close();

  boost::asio::io_context& io_;
  std::string root_;
  int elections_;
  int candidates_;
  std::vector<zkrecipes::session> sessions_;
  std::vector<std::deque<seat>> leaders_;  ///< By election: one, or two while the lead passes on.
  int next_ = 0;
};

}  // namespace bench
