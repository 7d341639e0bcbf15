// One script on one side.
#pragma once

#include "side.hpp"
#include "transcript.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace zkrecipes::conformance {

/// Driven by calling `advance` after anything has happened on its side; so many of them share one ensemble.
class play {
 public:
  /// All paths are put under `root`, which is created. The script outlives the play.
  play(const script& what, side& on, std::string root);
  ~play();

  /// True: the end.
  bool advance();

  /// What was heard; of a play that did not come to its end, with a note that says where it stands.
  transcript take();

 private:
  struct actor;

  bool quiet() const;
  void settle();
  void take_steps();
  void take(const step& each);
  void connect(const step& each);
  void request(const step& each);
  void end_session(actor& by, bool from_outside);
  void lapse(actor& who);
  void end_all();
  void hidden(actor& by, backend::opcode op, const std::string& path,
              create_mode mode = create_mode::persistent);
  void fired(int link, const backend::watch_event& event);
  actor* find(int link);  ///< Null unless it is connected.

  const script& script_;
  side& on_;
  std::string root_;
  scribe scribe_;
  transcript heard_;
  std::map<int, std::unique_ptr<actor>> links_;
  std::unique_ptr<actor> control_;
  std::unique_ptr<actor> last_;  ///< Of a session that is to lapse.
  std::set<std::int64_t> ended_;
  std::deque<std::function<void()>> then_;  ///< What a step still has to do, each when all is quiet.
  std::size_t next_ = 0;
  std::size_t phase_ = 0;
  int busy_ = 0;  ///< The link that is being worked with.
  bool synced_ = false;
  bool ending_ = false;
  std::string awaited_;  ///< A node that has to go first.
};

}  // namespace zkrecipes::conformance
