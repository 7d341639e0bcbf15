#include "scenario/meddler.hpp"

#include <utility>

namespace zkrecipes::simulation {

bool meddler::is_at_work(std::uint64_t one_in, span longest) {
  if (!works_ || !chance_.one_in(one_in)) return false;
  return in_.clock().now() + longest < in_.what().faults_until;
}

void meddler::remove_later(std::vector<std::string> paths, span longest) {
  // Never at once, because this is called while the servers apply a transaction.
  in_.clock().after(chance_.between(1us, longest), [this, paths = std::move(paths)] {
    for (const auto& each : paths) in_.servers().remove(each);
  });
}

void meddler::perhaps_remove(std::uint64_t one_in, std::vector<std::string> paths, span longest) {
  if (is_at_work(one_in, longest)) remove_later(std::move(paths), longest);
}

void meddler::perhaps_remove_unheard(std::uint64_t one_in, const change& made, span longest) {
  if (!is_at_work(one_in, longest)) return;
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto& wire = in_.wire(i);
    if (!wire || wire->closed || wire->key.id != made.owner) continue;
    in_.clock().after(1us, [this, wire] { in_.servers().break_connection(wire); });
  }
  remove_later({made.path}, longest);
}

}  // namespace zkrecipes::simulation
