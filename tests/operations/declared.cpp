#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

/// The text between this parenthesis and its partner.
std::string within(const std::string& text, std::size_t open) {
  int depth = 1;
  for (auto at = open + 1; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(open + 1, at - open - 1);
  }
  throw std::logic_error("a parenthesis is not closed");
}

/// The names of the parameters, without that of the completion token.
std::string names_of(const std::string& parameters) {
  std::vector<std::string> names;
  static const std::regex name("(\\w+)\\s*(,|$)");
  const auto bare = std::regex_replace(parameters, std::regex("\\s*=\\s*[^,]*"), "");  // without default values
  const auto flat = std::regex_replace(bare, std::regex("<[^<>]*>"), "");
  const auto clear = std::regex_replace(flat, std::regex("<[^<>]*>"), "");  // these brackets were around others
  for (std::sregex_iterator each(clear.begin(), clear.end(), name), end; each != end; ++each)
    names.push_back((*each)[1]);
  std::string all;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) all += (i ? ", " : "") + names[i];
  return all;
}

void collect(const std::string& text, std::vector<std::string>& all) {
  static const std::regex what("(?:^|\n)class (\\w+)[^;{]*\\{|auto (async_\\w+)\\(");
  std::string of;
  for (std::sregex_iterator each(text.begin(), text.end(), what), end; each != end; ++each) {
    if ((*each)[1].matched) {
      of = (*each)[1];
    } else {
      const auto open = static_cast<std::size_t>(each->position() + each->length()) - 1;
      all.push_back(of + "::" + (*each)[2].str() + "(" + names_of(within(text, open)) + ")");
    }
  }
}

}  // namespace

std::vector<std::string> declared_operations() {
  std::vector<std::string> all;
  for (const auto& each : std::filesystem::recursive_directory_iterator(ZKRECIPES_HEADERS)) {
    const auto name = each.path().stem().string();
    // Operations of a spooled producer end without a session, and its disk has a thread; tests/spool tries them. Those
    // of Redis streams and RabbitMQ queues need a broker as well; tests/redis and tests/rabbit try them.
    const bool needs_broker = name.starts_with("redis_") || name.starts_with("rabbit_");
    const bool is_tried_elsewhere = name == "spooled_producer" || needs_broker;
    if (each.path().extension() == ".hpp" && !is_tried_elsewhere) collect(read(each.path()), all);
  }
  return all;
}

}  // namespace zkrecipes::test
