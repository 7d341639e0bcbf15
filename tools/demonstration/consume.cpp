// A consumer: only the elected one of all replicas works. The effect of a message is one more result node. A stale
// leader could also create one, if its writes were not fenced.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "logged_career.hpp"
#include "phase_log.hpp"
#include "roles.hpp"

namespace demo {

namespace {

class recorder final : public zkrecipes::queue_consumer {
 public:
  recorder(zkrecipes::queue from, std::string id) : queue_consumer(std::move(from)), id_(std::move(id)) {}

  zkrecipes::career_traits traits() const override {
    return {.hand_over_deadline = std::chrono::seconds(1), .stall_limit = std::chrono::seconds(20)};
  }

  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term present,
                                                             const zkrecipes::message& item) override {
    zkrecipes::transaction effects;
    effects.create(std::string(results_path) + "/r-", std::to_string(present.epoch()) + ' ' + id_ + ' ' + item.data,
                   zkrecipes::create_mode::persistent_sequential);
    co_return effects;
  }

 private:
  std::string id_;
};

}  // namespace

int consume(const std::string& hosts, const std::string& id, const std::filesystem::path& folder) {
  boost::asio::io_context io;
  zkrecipes::session session(io.get_executor(), session_options(hosts));
  recorder records(zkrecipes::queue(session, queue_path), id);
  phase_log log(folder / id);
  logged_career career(records, log, id);
  zkrecipes::consumer_coordinator coordinator(session, election_path, {.id = id});
  boost::asio::signal_set stop(io, SIGTERM, SIGINT);
  stop.async_wait([&](zkrecipes::error_code error, int) {
    if (!error) coordinator.stop();
  });
  int status = 0;
  coordinator.async_run(career, [&](zkrecipes::error_code error) {
    if (error) std::cerr << "consumer " << id << ": " << error.message() << '\n';
    status = error ? 1 : 0;
    stop.cancel();
    session.async_close([&](zkrecipes::error_code) { io.stop(); });
  });
  io.run();
  return status;
}

}  // namespace demo
