// The faults of the brokers, as the seed draws them.
#pragma once

#include "scenario/redis/redis_scene.hpp"

namespace zkrecipes::simulation {

class redis_faults {
 public:
  /// They strike while the plan has its faults.
  explicit redis_faults(redis_scene& of);

 private:
  enum class strike {
    crash,          ///< Killed, with everything kept.
    fail_over,      ///< The replica has everything.
    lose_writes,    ///< Killed, and what was written last is lost.
    lose_by_other,  ///< The replica has not got what was written last.
    stop,           ///< The broker stands still.
    refuse,         ///< It answers that it can not at present.
    lose_reply,     ///< A write is done, and its reply lost.
    remove,         ///< An operator deletes a stream.
  };
  static constexpr int strikes = static_cast<int>(strike::remove);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void lose(bool by_other, span behind, span away);
  bool is_time() const;
  void restart_later(span away);

  redis_scene& of_;
  chance chance_;
};

}  // namespace zkrecipes::simulation
