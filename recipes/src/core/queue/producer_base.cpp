// The public operations that all producers share.
#include <zkrecipes/producer_base.hpp>

#include "queue/producer_core.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

using namespace detail;

producer_base::producer_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& producer_base::path() const noexcept { return core_ ? core_->path() : no_path(); }

}  // namespace zkrecipes

namespace zkrecipes::detail {

void producer_operations::put(handler h, core_ptr core, std::string key, std::string data) {
  std::vector<topic_message> one;
  one.push_back({std::move(key), std::move(data)});
  core->put(std::move(h), std::move(one), false);
}

void producer_operations::put_all(handler h, core_ptr core, std::vector<topic_message> messages) {
  core->put(std::move(h), std::move(messages), true);
}

void producer_operations::last(handler h, core_ptr core) { core->last(std::move(h)); }

}  // namespace zkrecipes::detail
