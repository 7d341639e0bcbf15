// The public operations that all sources share.
#include <zkrecipes/consumer/source_base.hpp>

#include "session/paths.hpp"
#include "source/source_core.hpp"

namespace zkrecipes {

using namespace detail;

source_base::source_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& source_base::path() const noexcept { return core_ ? core_->frame()->where.root : no_path(); }

std::uint32_t source_base::shards() const noexcept { return core_ ? core_->frame()->shards : 1; }

}  // namespace zkrecipes

namespace zkrecipes::detail {

void source_operations::seek(handler<> h, core_ptr core, std::uint32_t shard, std::string group,
                             source_position where) {
  launch(std::move(h), std::move(core), &source_core::seek, shard, std::move(group), std::move(where));
}

void source_operations::lag(handler<std::vector<source_lag>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &source_core::lag, std::move(group));
}

void source_operations::dead_letters(handler<std::vector<dead_letter>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &source_core::dead_letters, std::move(group));
}

void source_operations::revive(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &source_core::revive, std::move(group), std::move(which));
}

void source_operations::discard(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &source_core::discard, std::move(group), std::move(which));
}

}  // namespace zkrecipes::detail
