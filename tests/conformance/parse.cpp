#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "script.hpp"

namespace zkrecipes::conformance {

namespace {

using backend::opcode;

/// The words of one line.
class reader {
 public:
  explicit reader(const std::string& line) : line_(line) {}

  bool more() { return static_cast<bool>(line_ >> std::ws) && line_.peek() != std::istringstream::traits_type::eof(); }
  std::string word() {
    std::string each;
    if (!(line_ >> each)) throw std::invalid_argument("the line is too short");
    return each;
  }
  int number() {
    const auto each = word();
    std::size_t end = 0;
    const int value = std::stoi(each, &end);
    if (end != each.size()) throw std::invalid_argument("\"" + each + "\" is no number");
    return value;
  }
  int link() {
    const auto each = word();
    if (each.size() < 2 || each[0] != 'l') throw std::invalid_argument("\"" + each + "\" is no link, such as l1");
    return std::stoi(each.substr(1));
  }
  std::int32_t version() {
    const auto each = word();
    return each == "any" ? any_version : std::stoi(each);
  }
  std::string text() {
    auto each = word();
    return each == "-" ? std::string() : each;
  }

 private:
  std::istringstream line_;
};

operation read_operation(reader& from, step& into) {
  operation each;
  each.type = find_word<operation::kind>(operation_words, from.word());
  each.path = from.word();
  into.rights.emplace_back("open");
  if (each.type == operation::kind::create) {
    each.mode = find_word<create_mode>(mode_words, from.word());
    into.rights.back() = from.word();
    each.acl = rights_named(into.rights.back());
    each.data = from.text();
    return each;
  }
  each.version = from.version();
  if (each.type == operation::kind::set) each.data = from.text();
  return each;
}

void read_multi(reader& from, step& into) {
  do {
    into.what.operations.push_back(read_operation(from, into));
  } while (from.more() && from.word() == ";");
}

void read_request(reader& from, step& into) {
  auto& what = into.what;
  if (what.op == opcode::multi) return read_multi(from, into);
  if (what.op == opcode::authenticate) {
    for (const auto& each : users_named(from.word()))
      what = backend::make_authenticate(std::make_shared<credentials>(each));
    return;
  }
  what.path = from.word();
  if (what.op == opcode::create) what.mode = find_word<create_mode>(mode_words, from.word());
  if (what.op == opcode::remove || what.op == opcode::set || what.op == opcode::set_acl) what.version = from.version();
  if (what.op == opcode::create || what.op == opcode::set_acl) {
    into.rights.push_back(from.word());
    what.access = rights_named(into.rights.back());
  }
  if (what.op == opcode::create || what.op == opcode::set) what.data = from.text();
  what.watch = from.more() && from.word() == "watch";
}

step read_step(reader from) {
  step each;
  if (auto first = from.word(); first == "settle") {
    each.type = step::kind::settle;
    return each;
  } else {
    each.link = reader(first).link();
  }
  const auto verb = from.word();
  const auto found = std::find(step_words.begin(), step_words.end(), verb);
  if (found == step_words.end()) {
    each.what.op = find_word<opcode>(request_words, verb);
    read_request(from, each);
    return each;
  }
  each.type = static_cast<step::kind>(found - step_words.begin());
  if (each.type > step::kind::forge) return each;
  if (each.type != step::kind::connect) each.of = from.link();
  each.server = from.number();
  each.timeout = std::chrono::milliseconds(from.number());
  each.users = from.text();
  users_named(each.users);
  return each;
}

}  // namespace

script parse(const std::string& text) {
  script all;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      all.push_back(read_step(reader(line)));
    } catch (const std::exception& why) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + why.what());
    }
  }
  return all;
}

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
