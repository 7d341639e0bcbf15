#include "process_ender.hpp"

#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>

#include "ending_process.hpp"
#include "secrets.hpp"

namespace guardian {

namespace {

class process_ender : public std::enable_shared_from_this<process_ender> {
 public:
  using time_point = ending_process::time_point;
  using handler = ending_process::handler;

  process_ender(boost::asio::any_io_executor executor, std::string program)
      : executor_(std::move(executor)), program_(std::move(program)) {}

  void end(session_of_the_dead what, time_point deadline, handler done) {
    const auto user = what.user;
    try {
      of(user)->order(std::move(what), deadline, [self = shared_from_this(), user, done](const ending& result) {
        done(result);  // which can give another order
        self->let_go(user);
      });
    } catch (const std::system_error& failure) {
      wipe(what.session);
      boost::asio::post(executor_, [done = std::move(done), problem = std::string(failure.what())] {
        done({problem, 0, 0, false});
      });
    }
  }

 private:
  const std::shared_ptr<ending_process>& of(uid_t user) {
    const auto known = processes_.find(user);
    if (known != processes_.end() && !known->second->is_over()) return known->second;
    return processes_[user] = ending_process::start(executor_, program_);
  }
  void let_go(uid_t user) {
    const auto known = processes_.find(user);
    if (known == processes_.end() || known->second->pending() > 0) return;
    if (!known->second->is_over()) known->second->leave();
    processes_.erase(known);
  }

  boost::asio::any_io_executor executor_;
  std::string program_;
  std::map<uid_t, std::shared_ptr<ending_process>> processes_;
};

}  // namespace

session_ender make_process_ender(const boost::asio::any_io_executor& executor, std::string program) {
  auto ender = std::make_shared<process_ender>(executor, std::move(program));
  return [ender](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                 std::function<void(const ending&)> done) { ender->end(std::move(what), deadline, std::move(done)); };
}

}  // namespace guardian
