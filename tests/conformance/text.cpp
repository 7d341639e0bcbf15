#include <sstream>

#include "script.hpp"

namespace zkrecipes::conformance {

namespace {

using backend::opcode;

std::string version(std::int32_t number) { return number == any_version ? "any" : std::to_string(number); }

std::string data(const std::string& text) { return text.empty() ? "-" : text; }

std::string operation_text(const operation& each, const std::string& rights) {
  std::string text = std::string(word_of(operation_words, each.type)) + ' ' + each.path + ' ';
  if (each.type == operation::kind::create)
    return text + word_of(mode_words, each.mode) + ' ' + rights + ' ' + data(each.data);
  text += version(each.version);
  return each.type == operation::kind::set ? text + ' ' + data(each.data) : text;
}

std::string request_text(const step& which) {
  const auto& what = which.what;
  std::string text = word_of(request_words, what.op);
  if (what.op == opcode::multi) {
    for (std::size_t i = 0; i < what.operations.size(); ++i)
      text += (i ? " ; " : " ") + operation_text(what.operations[i], which.rights.at(i));
    return text;
  }
  if (what.op == opcode::authenticate) return text + ' ' + what.secret->user;
  text += ' ' + what.path;
  if (what.op == opcode::create)
    return text + ' ' + word_of(mode_words, what.mode) + ' ' + which.rights.at(0) + ' ' + data(what.data);
  if (what.op == opcode::remove) return text + ' ' + version(what.version);
  if (what.op == opcode::set) return text + ' ' + version(what.version) + ' ' + data(what.data);
  if (what.op == opcode::set_acl) return text + ' ' + version(what.version) + ' ' + which.rights.at(0);
  return what.watch ? text + " watch" : text;
}

}  // namespace

std::string to_text(const step& which) {
  using kind = step::kind;
  if (which.type == kind::settle) return "settle";
  const std::string link = 'l' + std::to_string(which.link) + ' ';
  if (which.type == kind::request) return link + request_text(which);
  std::string text = link + word_of(step_words, which.type);
  if (which.type > kind::forge) return text;
  if (which.type != kind::connect) text += " l" + std::to_string(which.of);
  return text + ' ' + std::to_string(which.server) + ' ' + std::to_string(which.timeout.count()) + ' ' +
         data(which.users);
}

std::string to_text(const script& all) {
  std::string text;
  for (const auto& each : all) text += to_text(each) + '\n';
  return text;
}

}  // namespace zkrecipes::conformance
