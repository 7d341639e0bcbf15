#include "ordered_rabbit.hpp"

#include <charconv>
#include <map>

namespace testcluster::command {

std::string ordered_rabbit::carry_out(const std::string& order) {
  const std::map<std::string, void (rabbit_broker::*)(int)> actions{{"kill", &rabbit_broker::kill},
                                                                    {"stop", &rabbit_broker::stop},
                                                                    {"restart", &rabbit_broker::restart},
                                                                    {"pause", &rabbit_broker::pause},
                                                                    {"resume", &rabbit_broker::resume}};
  const auto blank = order.find(' ');
  const auto verb = order.substr(0, blank);
  const auto rest = blank == order.npos ? std::string() : order.substr(blank + 1);
  const auto action = actions.find(verb);
  if (action != actions.end()) {
    (broker_.*action->second)(node(rest));
  } else if (verb == "leader") {
    return leader_of(rest);
  } else if (verb == "start") {
    start(rest);
  } else if (verb != "status") {
    throw error("there is no order \"" + order + "\": " + orders);
  }
  return state();
}

void ordered_rabbit::start(const std::string& which) {
  if (which.empty()) return broker_.start_all();
  broker_.start(node(which));
}

std::string ordered_rabbit::leader_of(const std::string& queue) {
  const auto leader = broker_.leader_of(queue);
  return queue + (leader == 0 ? " has no leader" : " leader " + std::to_string(leader));
}

/// The only one has not to be named.
int ordered_rabbit::node(const std::string& which) const {
  if (which.empty() && broker_.nodes() == 1) return 1;
  int number = 0;
  const auto* end = which.data() + which.size();
  const auto parsed = std::from_chars(which.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return number;
  throw error("\"" + which + "\" is not the number of a node, 1 to " + std::to_string(broker_.nodes()));
}

std::string ordered_rabbit::state() {
  std::string all;
  for (int each = 1; each <= broker_.nodes(); ++each) {
    const auto pid = broker_.pid(each);
    all += (all.empty() ? "" : ", ") + broker_.address(each);
    all += pid == 0 ? " stopped" : " running " + std::to_string(pid);
  }
  return all;
}

}  // namespace testcluster::command
