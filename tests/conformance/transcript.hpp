// A transcript: everything that each link of a script heard.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "script.hpp"

namespace zkrecipes::conformance {

struct heard {
  bool event = false;
  std::string text;
  std::size_t phase = 0;    ///< How often everything had been settled before.
  std::size_t answers = 0;  ///< How many answers this link had heard before.
  std::size_t step = 0;     ///< The number of steps taken so far; the last of them is the present one.
};

/// The lines that were heard, by link.
using transcript = std::map<int, std::vector<heard>>;

/// Turns what was heard into text. Session ids are replaced by numbers in order of appearance, zxids by their ranks.
class scribe {
 public:
  explicit scribe(std::string root) : root_(std::move(root)) {}

  std::string session(std::int64_t id);
  std::string answer(const step& asked, const backend::reply& reply);
  std::string event(const backend::watch_event& event) const;

  /// Replaces the zxids in the text by their ranks.
  void finish(transcript& all) const;

 private:
  std::string path(const std::string& full) const;
  std::string zxid(std::int64_t number);
  std::string stat(const node_stat& of);

  std::string root_;
  std::map<std::int64_t, int> sessions_;
  std::map<std::int64_t, int> zxids_;
};

/// The first difference of each link's answers and events in words; empty if there is none. If several nodes end with a
/// session, the order of their events does not matter.
std::string difference(const script& played, const transcript& model, const transcript& real);

}  // namespace zkrecipes::conformance
