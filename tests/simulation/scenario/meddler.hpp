// In one run out of three, an operator who removes nodes while the clients use them.
#pragma once

#include <string>
#include <vector>

#include "run/stage.hpp"
#include "world/chance.hpp"

namespace zkrecipes::simulation {

class meddler {
 public:
  /// `stream`: the operator's own stream of `chance`, so that the clients' draws stay the same.
  meddler(stage& in, std::uint64_t stream) : in_(in), chance_(in.what().seed, stream), works_(chance_.one_in(3)) {}

  /// Once in `one_in` calls, removes these nodes in this order, at one moment within `longest`.
  void perhaps_remove(std::uint64_t one_in, std::vector<std::string> paths, span longest);
  /// Like `perhaps_remove`, and breaks the connection of the session that has just made the node, so that it does not
  /// hear of it.
  void perhaps_remove_unheard(std::uint64_t one_in, const change& made, span longest);

 private:
  bool is_at_work(std::uint64_t one_in, span longest);
  void remove_later(std::vector<std::string> paths, span longest);

  stage& in_;
  chance chance_;
  bool works_;
};

}  // namespace zkrecipes::simulation
