#include "commands/verdict_output.hpp"

#include <ostream>
#include <string>

#include "commands/errand.hpp"
#include "report/check_report.hpp"

namespace zkadmin {
namespace {

std::string formatted_verdict(const verdict& judged, output_format format) {
  switch (format) {
    case output_format::table: return to_lines(judged);
    case output_format::json: return to_json(judged);
    case output_format::tsv: return to_tsv(judged);
  }
  return {};
}

}  // namespace

check_state print_verdict(surroundings& around, const verdict& judged, output_format format) {
  around.out << formatted_verdict(judged, format);
  finish_output(around);
  return state_of(judged);
}

}  // namespace zkadmin
