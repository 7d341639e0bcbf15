#include "screen/typing.hpp"

#include "screen/navigation.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_line = 1000;  // Bytes.

std::string& filter_of(model& state) { return state.lists[static_cast<std::size_t>(state.shown.which)].filter; }

/// The list follows each character.
void use_filter(model& state) {
  if (state.prompt->kind == '/') filter_of(state) = state.prompt->text;
}

void drop_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

effect finish(model& state) {
  const prompt_line typed = *state.prompt;
  state.prompt.reset();
  return typed.kind == ':' ? obey(state, typed.text) : effect::none;
}

void cancel(model& state) {
  state.prompt->text.clear();
  use_filter(state);
  state.prompt.reset();
}

bool is_character(stroke typed) noexcept { return typed >= 0x20 && typed != strokes::backspace && typed < 0x110000; }

}  // namespace

void begin_typing(model& state, char kind) {
  if (kind == '/' && !is_list(state.shown)) {
    state.message = "there is no list to filter here";
    return;
  }
  state.prompt = prompt_line{kind, kind == '/' ? filter_of(state) : ""};
}

effect type(model& state, stroke typed) {
  auto& text = state.prompt->text;
  if (typed == strokes::enter) return finish(state);
  if (typed == strokes::control('c')) return effect::quit;
  if (typed == strokes::escape) {
    cancel(state);
    return effect::none;
  }
  if (typed == strokes::backspace && text.empty()) {
    cancel(state);
    return effect::none;
  }
  if (typed == strokes::backspace) drop_last_character(text);
  if (typed == strokes::control('u')) text.clear();
  if (is_character(typed) && text.size() < longest_line) text += to_utf8(std::u32string(1, typed));
  use_filter(state);
  return effect::none;
}

effect obey(model& state, const std::string& command) {
  if (command == "q" || command == "quit") return effect::quit;
  if (command.starts_with('/')) {
    go_to_path(state, command);
  } else if (const auto which = page_named(command)) {
    go_to(state, {*which});
  } else if (!command.empty()) {
    state.message = "unknown command: " + command + "; ? shows all";
  }
  return effect::none;
}

}  // namespace zkadmin
