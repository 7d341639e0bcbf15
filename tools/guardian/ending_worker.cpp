#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "ending_order.hpp"
#include "ending_process.hpp"
#include "format/json_object.hpp"
#include "guardian/dead_session.hpp"
#include "secrets.hpp"
#include "session/core.hpp"

namespace guardian {

/// Ends sessions on the real ensemble.
session_ender make_real_ender(const boost::asio::any_io_executor& executor);

namespace detail = zkrecipes::detail;

namespace {

/// `session` keeps the secrets, because it can overwrite them afterwards.
detail::dead_session to_dead_session(const session_of_the_dead& from) {
  detail::dead_session to{from.session.key, from.session.servers, from.session.digest, {}, {}};
  for (const auto& each : from.terms) to.terms.push_back({each.record, each.node, each.seat});
  return to;
}

}  // namespace

session_ender make_real_ender(const boost::asio::any_io_executor& executor) {
  auto schedule = detail::make_scheduler("guardian", executor, &zkrecipes::backend::make_real_world);
  return [schedule](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                    std::function<void(const ending&)> done) {
    auto dead = to_dead_session(what);
    wipe(what.session);
    boost::asio::co_spawn(
        schedule->strand, detail::end_dead_session(schedule, std::move(dead), deadline),
        [done = std::move(done)](const std::exception_ptr& failure, const detail::dead_session_result& result) {
          if (failure) return done({"an exception", 0, 0, false});
          done({result.error ? result.error.message() : "", result.died, result.passed_over, result.is_closed});
        });
  };
}

namespace {

using boost::system::error_code;

constexpr rlim_t most_memory = 512 << 20;

/// A server that sends more than that ends this process, and not the machine's memory. Where memory is short for
/// another reason, the kernel takes this process and not the guardian.
void limit_memory() {
  std::ofstream("/proc/self/oom_score_adj") << 500;
#ifndef __SANITIZE_ADDRESS__  // which reserves far more
  const rlimit most{most_memory, most_memory};
  ::setrlimit(RLIMIT_DATA, &most);
#endif
}

/// A guardian may be root, or be allowed to kill. What speaks to servers that others name is not. It may go on locking
/// its memory, because without that right it could not allocate more once its memory is locked.
void drop_capabilities() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held{};
  if (::syscall(SYS_capget, &header, held.data()) != 0) return;
  const auto locking = held[0].effective & CAP_TO_MASK(CAP_IPC_LOCK);
  held = {};
  held[0].effective = held[0].permitted = locking;
  ::syscall(SYS_capset, &header, held.data());
}

class ending_worker {
 public:
  ending_worker()
      : socket_(io_, boost::asio::local::stream_protocol(), STDIN_FILENO), how_(make_real_ender(io_.get_executor())) {}

  void run() {
    read();
    io_.run();
  }

 private:
  void read() {
    socket_.async_read_some(boost::asio::buffer(part_), [this](const error_code& error, std::size_t size) {
      if (error) return on_end_of_input();
      lines_.add({part_.data(), size});
      ::explicit_bzero(part_.data(), size);
      while (const auto line = lines_.next()) {
        if (auto order = reader_.hear(*line)) begin(std::move(*order));
      }
      read();
    });
  }
  void begin(ending_order order) {
    ++running_;
    limit_life(order.within);
    how_(std::move(order.what), zkrecipes::lease_clock::now() + order.within,
         [this, number = order.number](const ending& result) {
           answer(to_line({number, result}));
           if (--running_ == 0 && !is_last_) ::alarm(0);
           if (is_last_ && running_ == 0) io_.stop();
         });
  }
  /// The guardian kills a process that is stuck. This is for one whose guardian has gone.
  void limit_life(std::chrono::milliseconds within) {
    end_ = std::max(end_, zkrecipes::lease_clock::now() + within + std::chrono::seconds(10));
    const auto left = std::chrono::ceil<std::chrono::seconds>(end_ - zkrecipes::lease_clock::now());
    ::alarm(static_cast<unsigned>(left.count()));
  }
  void on_end_of_input() {
    is_last_ = true;
    if (running_ == 0) io_.stop();
  }
  /// Answers are few and short. A guardian that has gone needs none.
  void answer(const std::string& line) {
    error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(line), ignored);
  }

  boost::asio::io_context io_{1};
  boost::asio::local::stream_protocol::socket socket_;
  session_ender how_;
  std::array<char, 16 << 10> part_{};
  line_buffer lines_;
  ending_order_reader reader_;
  std::size_t running_ = 0;
  bool is_last_ = false;
  zkrecipes::lease_clock::time_point end_{};
};

}  // namespace

int run_ending_worker() {
  for (const int each : {SIGTERM, SIGINT, SIGHUP})
    std::signal(each, SIG_IGN);  // meant for the guardian, who waits for us
  limit_memory();                // first: the files of a process that is not dumpable are root's
  harden_process();              // what it could not do the guardian has logged
  drop_capabilities();
  ending_worker().run();
  return 0;
}

}  // namespace guardian
