#include "traffic.hpp"

#include <sstream>

#include "asynchronous.hpp"

namespace bench {

traffic count_traffic() {
  traffic sum;
  for (int id = 1; id <= server_count; ++id) {
    std::istringstream answer(ask(id, "mntr"));
    std::string line;
    while (std::getline(answer, line)) {
      const auto tab = line.find('\t');
      const auto name = line.substr(0, tab);
      if (name == "zk_packets_received") sum.requests += std::stod(line.substr(tab));
      if (name.starts_with("zk_sum_node_") && name.ends_with("_watch_count")) {
        sum.watch_events += std::stod(line.substr(tab));
      }
    }
  }
  return sum;
}

}  // namespace bench
