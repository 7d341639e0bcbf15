#include <csignal>
#include <iostream>

#include <boost/asio.hpp>

#include "balance_director.hpp"
#include "director.hpp"
#include "report.hpp"
#include "roles.hpp"
#include "shard_director.hpp"

namespace demo {

namespace asio = boost::asio;

zkrecipes::session_options session_options(const std::string& hosts, std::chrono::milliseconds timeout) {
  return {.hosts = hosts, .timeout = timeout, .root = root, .create_root = true};
}

zkrecipes::topic_options topic_settings(std::uint32_t shards) {
  zkrecipes::topic_options all;
  all.shards = shards;
  all.retention.groups = {source_group};
  return all;
}

namespace {

/// `Director`: of either kind of run.
template <class Director>
int play(const direction& how) {
  asio::io_context io;
  Director stage(io, how);
  int status = 0;
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](zkrecipes::error_code error, int number) {
    if (error) return;
    status = 128 + number;
    io.stop();
  });
  asio::co_spawn(io, stage.run(), [&](std::exception_ptr failure) {
    stop.cancel();
    if (failure) {
      status = 1;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        std::cerr << "demo: " << error.what() << '\n';
      }
      io.stop();
    }
  });
  io.run();
  if (status) return status;
  std::cout << (how.json ? to_json(stage.outcome()) + '\n' : to_text(stage.outcome())) << std::flush;
  return stage.outcome().success() ? 0 : 1;
}

}  // namespace

int direct(const direction& how) {
  if (how.range) return play<balance_director>(how);
  return how.work.shards ? play<shard_director>(how) : play<director>(how);
}

}  // namespace demo
