// `zkadmin queue letters`.
#include <memory>
#include <ostream>

#include "cluster/letter_reader.hpp"
#include "commands/errand.hpp"
#include "commands/queue_commands.hpp"
#include "report/letter_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {

namespace asio = boost::asio;

exit_code show_letters(surroundings& around, const settings& wanted, const queue_request& asked, output_format format) {
  const letter_source from{parse_path_argument(asked.path), asked.group};
  const auto list = std::make_shared<letter_list>();
  const auto trouble =
      run_errand(around, wanted, [list, from](zkrecipes::session session, deadline until) -> asio::awaitable<void> {
        *list = co_await read_dead_letters(std::move(session), from, until);
      });
  if (trouble) throw *trouble;
  around.out << formatted_letters(*list, format, std::chrono::system_clock::now());
  finish_output(around);
  if (list->not_read == 0) return exit_code::ok;
  around.err << "zkadmin: there are " << list->not_read << " more letters behind these\n";
  return exit_code::error;
}

}  // namespace zkadmin
