// Text from a cluster, as it reaches a terminal, a file or a script. The first byte of the input is a width.
#include "base/text.hpp"

#include <zkrecipes/service/metrics_page.hpp>

#include "fuzz/target.hpp"
#include "report/formats.hpp"
#include "screen/list_view.hpp"
#include "terminal/grid.hpp"
#include "terminal/table.hpp"

namespace fuzz::text_target {

using namespace zkadmin;

void require_fit(std::string_view text, int width) {
  for (const auto& each : {cut_in_middle(text, width), cut_at_begin(text, width)}) {
    require(places(each) <= width, "a text fits into its width");
    require(!has_control(each), "no control character is shown");
  }
  if (width < 2) return;  // a wide character fits into no line
  for (const auto& each : wrapped(text, width)) {
    require(places(each) <= width, "a line fits into its width");
    require(!has_control(each), "no control character is shown");
  }
}

void require_cells(std::string_view text, int width) {
  grid screen(40, 2);
  require(screen.put(1, 1, text, look::plain, width) <= 40, "nothing is written beyond the edge");
  for (int x = 0; x < 40; ++x) {
    const auto glyph = screen.at(x, 1).glyph;
    require(glyph == 0 || (glyph >= 0x20 && (glyph < 0x7f || glyph > 0x9f)), "no cell holds a control character");
  }
}

void require_printable(std::string_view text) {
  const auto shown = printable(text);
  require(!has_control(shown), "no control character is shown");
  require(printable(shown) == shown && displayable(shown) == displayable(text), "printable text stays as it is");
  require(to_utf8(displayable(text)) == shown && places(text) == places(shown), "it takes the same places");
  require(is_utf8(well_formed(text)) && is_utf8(text) == (well_formed(text) == text), "well-formed text is UTF-8");
  for (const auto& each : lines_of(printable_lines(text), 10'000)) {
    auto line = each;
    std::erase(line, '\t');
    require(!has_control(line), "a line has no other control character than tabs");
  }
}

void require_encoded(std::string_view text) {
  const auto encoded = base64(text);
  require(encoded.size() == (text.size() + 2) / 3 * 4, "base64 has four characters for three bytes");
  auto dump = hex_dump(text);
  std::erase(dump, '\n');
  require(!has_control(dump), "a dump has no control character");
  auto line = tsv_line(std::string(text), "end");
  require(line.ends_with("\tend\n") && line.find('\t') == line.size() - 5, "a field has no tab");
  require(line.find('\n') == line.size() - 1, "a line has one end");
  require(printable_lines(line) == line, "a field gives a terminal no orders");
  zkrecipes::service::metrics_page metrics;
  metrics.gauge("name", "help", 1, {{"label", std::string(text)}});
  require(is_utf8(metrics.text()) && lines_of(metrics.text()).size() == 4, "a sample is one line of UTF-8");
}

void read_text(std::string_view input) {
  const int width = take_byte(input) % 80;
  require_printable(input);
  require_fit(input, width);
  require_cells(input, width);
  require_encoded(input);
  require(shortened(input, 40).size() <= 80, "a text is shortened");
  require(passes(input, input.substr(0, 3)) || input.starts_with('!'), "a text passes by its own beginning");
  short_duration(std::chrono::milliseconds(width * 12'345));
}

const target known("text", read_text);

}  // namespace fuzz::text_target
