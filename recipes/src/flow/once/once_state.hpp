// The state of one `once_per` object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/flow/once_per.hpp>

#include "once/leader_time.hpp"
#include "once/once_place.hpp"
#include "once/once_record.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// An intent belongs to the period in which the leader has stamped it. Our guess of the leader's time says in which
/// period it is written. If the stamp is of another one the intent does not count, for nobody, and the next try goes by
/// the stamp. So an intent that counts is in the period of its name, and there is one of each key.
///
/// Intents are removed with their period only. A single one is written over, by its version: a removal that is executed
/// late could hit the intent of somebody else.
class once_state : public std::enable_shared_from_this<once_state> {
 public:
  once_state(core_ptr session, std::string path, once_per_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return where_.root; }
  const once_per_options& options() const noexcept { return options_; }

  awaitable<outcome<once_intent>> claim(std::string key, std::string note);
  awaitable<outcome<>> withdraw(once_intent what);
  awaitable<outcome<std::size_t>> clean();

 private:
  /// What a node says to a claim.
  enum class finding {
    nothing,    ///< It is not there.
    ours,       ///< The claim has written it.
    others,     ///< Another claim came before.
    free,       ///< It does not count: the claim may write over it.
    elsewhere,  ///< The leader's clock shows another period than we thought.
    foreign,    ///< Something else has written it.
  };
  struct sight {
    error_code error{};
    finding what = finding::nothing;
    once_record record{};
    node_stat stat{};
  };

  awaitable<error_code> prepare();
  awaitable<error_code> learn_time();
  awaitable<error_code> make_root();
  awaitable<sight> try_in(std::int64_t period, once_record mine);
  awaitable<backend::reply> write_and_look(std::vector<backend::request> all);
  sight judge(const once_record& mine, std::int64_t period, const backend::reply& node);
  void clean_if_due();
  awaitable<void> clean_quietly();

  core_ptr session_;
  const once_per_options options_;
  const once_place where_;
  leader_time time_;
  turnstile learning_{1};
  lease_clock::time_point clean_at_{};
};

}  // namespace zkrecipes::detail
