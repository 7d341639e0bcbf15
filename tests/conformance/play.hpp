// Plays one script on one side: the model or the real ensemble.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "script.hpp"
#include "transcript.hpp"

namespace zkrecipes::conformance {

/// `advance` is to be called after anything has happened on its side. So many plays can share one ensemble.
class play {
 public:
  /// All paths are put under `root`, which is created. The script outlives the play.
  play(const script& what, side& on, std::string root);
  ~play();

  /// Goes on as far as it can. True once the play has ended.
  bool advance();

  /// Everything that the links heard. If the play has not ended, a note says at which step it is stuck.
  transcript take();

 private:
  struct actor;

  bool quiet() const;
  void settle();
  std::string mark() const { return root_ + "-mark"; }
  void take_steps();
  void take(const step& each);
  void connect(const step& each);
  void request(const step& each);
  void end_session(actor& by, bool from_outside);
  void lapse(actor& who);
  void end_all();
  void hidden(actor& by, backend::opcode op, const std::string& path, create_mode mode = create_mode::persistent);
  void fired(int link, const backend::watch_event& event);
  actor* find(int link);  ///< Null unless it is connected.

  const script& script_;
  side& on_;
  std::string root_;
  scribe scribe_;
  transcript heard_;
  std::map<int, std::unique_ptr<actor>> links_;
  std::unique_ptr<actor> control_;
  std::unique_ptr<actor> last_;  ///< The last connection of a session that is to lapse.
  std::set<std::int64_t> ended_;
  std::deque<std::function<void()>> then_;  ///< The rest of a step: each part is run once all links are idle.
  std::size_t next_ = 0;
  std::size_t phase_ = 0;
  int busy_ = 0;  ///< The link whose requests were sent last; 0: the last step was no request.
  bool synced_ = false;
  bool ending_ = false;
  std::string awaited_;  ///< The play waits until this node has been deleted.
};

}  // namespace zkrecipes::conformance
