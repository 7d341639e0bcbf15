#include <algorithm>
#include <sstream>

#include "transcript.hpp"

namespace zkrecipes::conformance {

namespace {

bool ends_a_session(const script& played, const heard& each) {
  if (each.step == 0 || each.step > played.size()) return false;
  const auto type = played[each.step - 1].type;
  return type == step::kind::close || type == step::kind::expire || type == step::kind::lapse;
}

/// The phase in which the link went down with the end of its session; -1 if it did not.
std::size_t last_phase(const script& played, const std::vector<heard>& of) {
  const bool ended = !of.empty() && of.back().text.starts_with("down") && ends_a_session(played, of.back());
  return ended ? of.back().phase : std::size_t(-1);
}

std::vector<heard> pick(const script& played, const std::vector<heard>& from, bool events) {
  std::vector<heard> picked;
  // Events that the end of its own session causes reach a link or are lost with the connection, by chance. Leave them
  // out.
  const auto last = last_phase(played, from);
  for (const auto& each : from) {
    if (each.event == events && !(events && each.phase == last)) picked.push_back(each);
  }
  for (auto first = picked.begin(); events && first != picked.end();) {
    auto next = std::find_if(first, picked.end(), [&](const heard& one) { return one.phase != first->phase; });
    if (ends_a_session(played, *first))
      std::sort(first, next, [](const heard& a, const heard& b) { return a.text < b.text; });
    first = next;
  }
  return picked;
}

std::string report(int link, const heard* model, const heard* real) {
  auto show = [](const heard* one) {
    if (!one) return std::string("nothing");
    return one->text + (one->event ? "  (after answer " + std::to_string(one->answers) + " in phase " +
                                         std::to_string(one->phase) + ")"
                                   : "");
  };
  std::ostringstream text;
  text << "l" << link << "\n  model: " << show(model) << "\n  real:  " << show(real) << '\n';
  return text.str();
}

/// The C client hands over events before the answers that it read together with them. So an event may come earlier than
/// in the model, but not in an earlier phase.
bool agree(const heard& model, const heard& real) {
  if (model.text != real.text || model.phase != real.phase) return false;
  return !model.event || real.answers <= model.answers;
}

std::string differ(int link, const std::vector<heard>& model, const std::vector<heard>& real) {
  for (std::size_t i = 0; i < std::max(model.size(), real.size()); ++i) {
    const auto* left = i < model.size() ? &model[i] : nullptr;
    const auto* right = i < real.size() ? &real[i] : nullptr;
    if (!left || !right || !agree(*left, *right)) return report(link, left, right);
  }
  return {};
}

}  // namespace

std::string difference(const script& played, const transcript& model, const transcript& real) {
  auto links = model;
  links.insert(real.begin(), real.end());
  std::string text;
  for (const auto& [link, lines] : links) {
    for (bool events : {false, true}) {
      auto of = [&, &name = link](const transcript& all) {
        auto found = all.find(name);
        return found == all.end() ? std::vector<heard>() : pick(played, found->second, events);
      };
      text += differ(link, of(model), of(real));
    }
  }
  return text;
}

}  // namespace zkrecipes::conformance
