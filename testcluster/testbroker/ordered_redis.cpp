#include "ordered_redis.hpp"

namespace testcluster::command {

std::string ordered_redis::carry_out(const std::string& order) {
  if (order == "kill") {
    broker_.kill();
  } else if (order == "start") {
    broker_.start();
  } else if (order == "restart") {
    broker_.restart();
  } else if (order == "pause") {
    broker_.pause();
  } else if (order == "resume") {
    broker_.resume();
  } else if (order != "status") {
    throw error("there is no order \"" + order + "\": " + orders);
  }
  return state();
}

std::string ordered_redis::state() {
  const auto pid = broker_.pid();
  return broker_.address() + (pid == 0 ? " stopped" : " running " + std::to_string(pid));
}

}  // namespace testcluster::command
