// One page of zkadmin, for the pictures: a sample cluster at noon, drawn as the program draws it. It shows the page
// until it is killed.
//   screens-gallery KEYS      KEYS: what the user has typed; "~" is the enter key
#include <clocale>
#include <iostream>
#include <string_view>

#include <unistd.h>

#include "sample_cluster.hpp"
#include "screen/render.hpp"
#include "terminal/terminal.hpp"

namespace {

zkadmin::stroke key_of(char each) { return each == '~' ? zkadmin::strokes::enter : static_cast<zkadmin::stroke>(each); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: screens-gallery KEYS\n";
    return 2;
  }
  std::setlocale(LC_ALL, "");
  zkadmin::terminal terminal(true);
  auto state = screens::sample_cluster();
  update(state, zkadmin::resized{terminal.width(), terminal.height()}, state.now);
  for (const char each : std::string_view(argv[1])) update(state, zkadmin::key_pressed{key_of(each)}, state.now);
  terminal.draw(render(state, state.width, state.height, {}));
  ::pause();
}
