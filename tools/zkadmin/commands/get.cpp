// `zkadmin get` and `zkadmin stat`.
#include <iostream>
#include <memory>
#include <utility>

#include <unistd.h>

#include "cluster/node_reading.hpp"
#include "commands/errand.hpp"
#include "commands/node_commands.hpp"
#include "report/encoding.hpp"
#include "report/node_report.hpp"
#include "settings/values.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

bool is_to_terminal(const surroundings& around) { return &around.out == &std::cout && ::isatty(STDOUT_FILENO) == 1; }

std::string data_for_terminal(const std::string& path, const std::string& data) {
  if (!is_showable(data))
    throw failure(exit_code::error, printable(path) + " holds " + std::to_string(data.size()) +
                                        " bytes that a terminal can not show; add --hex or --base64, or write to a "
                                        "file or a pipe");
  auto text = printable_lines(data);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string data_for_people(const node_reading& node, data_form form, bool is_terminal) {
  switch (form) {
    case data_form::hex: return hex_dump(node.data);
    case data_form::base64: return base64(node.data) + "\n";
    case data_form::plain: break;
  }
  return is_terminal ? data_for_terminal(node.view.path, node.data) : node.data;
}

}  // namespace

exit_code show_data(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto node = std::make_shared<node_reading>();
  const auto trouble = run_errand(around, wanted, [=](zkrecipes::session session, deadline) -> asio::awaitable<void> {
    auto found = co_await read_node(std::move(session), path);
    *node = std::move(found);
  });
  if (trouble) throw *trouble;
  const bool is_for_people = asked.format == node_format::table;
  around.out << (is_for_people ? data_for_people(*node, asked.form, is_to_terminal(around))
                               : data_text(node->view, node->data, asked.format));
  finish_output(around);
  return exit_code::ok;
}

exit_code show_stat(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto path = parse_path_argument(asked.path);
  const auto node = std::make_shared<node_view>();
  const auto trouble = run_errand(around, wanted, [=](zkrecipes::session session, deadline) -> asio::awaitable<void> {
    auto found = co_await read_stat(std::move(session), path);
    *node = std::move(found);
  });
  if (trouble) throw *trouble;
  around.out << stat_text(*node, asked.format);
  finish_output(around);
  return exit_code::ok;
}

}  // namespace zkadmin
