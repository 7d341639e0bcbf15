#include "spool/spool_life.hpp"

#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

void spool_life::drop() {
  is_over_ = true;
  disk_->stop();
  if (auto state = whose_.lock()) state->drop();
}

}  // namespace zkrecipes::detail
