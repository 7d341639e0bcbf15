#include "session/watch.hpp"

#include <utility>

#include "session/watch_registry.hpp"

namespace zkrecipes::detail {

watch::watch(std::shared_ptr<watch_registry> registry, watch_kind kind, std::string path, condition& changed)
    : registry_(std::move(registry)), kind_(kind), path_(std::move(path)), changed_(changed) {
  registry_->waiting_.emplace(watch_registry::key(path_, kind_), this);
}

watch::~watch() {
  if (!fired_) registry_->leave(*this);
}

}  // namespace zkrecipes::detail
