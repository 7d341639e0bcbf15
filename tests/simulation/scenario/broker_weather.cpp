#include "scenario/broker_weather.hpp"

namespace zkrecipes::simulation {

using side = broker_wire::side;

broker_weather::broker_weather(stage& in, span longest) : in_(in), chance_(in.what().seed, 1'130), longest_(longest) {
  if (chance_.one_in(4)) return;
  for (auto left = 1 + chance_.below(20); left > 0; --left) {
    in_.clock().at(chance_.between(in_.what().faults_from, in_.what().faults_until), [this] { strike(); });
  }
}

void broker_weather::strike() {
  const auto all = in_.brokers().wires();
  if (all.empty()) return;
  const auto& which = all[chance_.below(all.size())];
  in_.notes().note(which->client(), "broker's connection", "struck", static_cast<std::int64_t>(which->number()));
  if (chance_.one_in(2)) return freeze(which);
  which->cut(static_cast<broker_wire::notice>(chance_.below(4)));
}

void broker_weather::freeze(const broker_wire_ptr& which) {
  const auto how = chance_.below(3);
  if (how != 0) which->freeze(side::client);
  if (how != 1) which->freeze(side::broker);
  in_.clock().after(chance_.between(10ms, longest_), [which] { which->thaw(); });
}

}  // namespace zkrecipes::simulation
