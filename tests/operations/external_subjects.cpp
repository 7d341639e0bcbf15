// Sources of the user's.
#include <zkrecipes/consumer/external_source.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

/// A dead letter that does not exist.
dead_letter external_letter() {
  dead_letter one;
  one.name = "letter-0000000001";
  one.item = "0000/row 1";
  return one;
}

external_source make_external(const session& zk) {
  external_options how;
  how.source = "rows";
  return external_source(zk, "/rows", how);
}

subject of_external_source() {
  return subject_of<external_source>("external_source")
      .made([](const session& zk) { return make_external(zk); })
      .has("external_source::async_dead_letters(group)",
           [](auto& s, auto token) { s.async_dead_letters("g", std::move(token)); })
      .has("external_source::async_discard(group, which)",
           [](auto& s, auto token) { s.async_discard("g", external_letter(), std::move(token)); }, {errc::no_node});
}

}  // namespace

std::vector<subject> external_subjects() { return {of_external_source()}; }

}  // namespace zkrecipes::test
