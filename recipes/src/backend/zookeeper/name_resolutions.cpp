#include "backend/zookeeper/name_resolutions.hpp"

namespace zkrecipes::backend {

void name_resolutions::resolve(std::vector<endpoint> names, resolve_handler handler) {
  std::erase_if(under_way_, [](const auto& each) { return each.expired(); });
  for (const auto& each : under_way_) {
    const auto known = each.lock();
    if (known && known->join(names, handler)) return;
  }
  const auto made = std::make_shared<name_resolution>(strand_, std::move(names), std::move(handler));
  under_way_.push_back(made);
  made->start();
}

}  // namespace zkrecipes::backend
