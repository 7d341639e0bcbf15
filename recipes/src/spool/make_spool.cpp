#include "spool/make_spool.hpp"

#include <utility>

#include "session/core.hpp"
#include "spool/spool_state.hpp"
#include "spool/sqlite_disk.hpp"

namespace zkrecipes::detail {

std::shared_ptr<spool_state> make_spool(const session& with, const std::string& name, spool_options options,
                                        std::unique_ptr<spool_target> target) {
  const auto& on = with.get_core()->get_scheduler();
  spool_file_settings settings;
  settings.file = options.file;
  // Two sessions with different roots have different queues at one path.
  settings.path = with.get_core()->root() + target->identity();
  settings.name = name;
  settings.durability = options.durability;
  settings.has_origins = !target->knows_last();
  auto disk = std::make_shared<sqlite_disk>(on->strand, std::move(settings));
  auto state = std::make_shared<spool_state>(on, std::move(options), std::move(target), std::move(disk));
  state->start();
  return state;
}

}  // namespace zkrecipes::detail
