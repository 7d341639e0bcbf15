// An operator who takes nodes away in the midst of what goes on, in one run out of three.
#pragma once

#include "run/stage.hpp"
#include "world/chance.hpp"

#include <string>
#include <vector>

namespace zkrecipes::simulation {

class meddler {
 public:
  /// `stream` of chance: its own, so that the clients do what they would do without it.
  meddler(stage& in, std::uint64_t stream) : in_(in), chance_(in.what().seed, stream), works_(chance_.one_in(3)) {}

  /// Once in so many times: these nodes are removed, the first after at most `longest`, the others right behind it.
  void perhaps_remove(std::uint64_t one_in, std::vector<std::string> paths, span longest);
  /// The same, and who has just made the node does not hear of it: its connection breaks.
  void perhaps_remove_unheard(std::uint64_t one_in, const change& made, span longest);

 private:
  bool is_at_work(std::uint64_t one_in, span longest);
  void remove_later(std::vector<std::string> paths, span longest);

  stage& in_;
  chance chance_;
  bool works_;
};

}  // namespace zkrecipes::simulation
