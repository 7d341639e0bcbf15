#include "redis/reply_reader.hpp"

#include <cstring>
#include <new>

#include <hiredis/hiredis.h>

namespace zkrecipes::detail {

namespace {

/// hiredis gives the memory of its buffer back when it is empty and has more room than this.
constexpr std::size_t longest_kept_buffer = 1 << 20;

/// Null, which hiredis takes for a lack of memory, if there is none: an exception must not pass through it.
template <class What>
What* allocate(const redisReadTask& task, std::size_t count) noexcept {
  try {
    auto& memory = *static_cast<std::pmr::memory_resource*>(task.privdata);
    return static_cast<What*>(memory.allocate(count * sizeof(What), alignof(What)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Puts a reply into the array around it.
redisReply* make_reply(const redisReadTask& task) noexcept {
  auto* made = allocate<redisReply>(task, 1);
  if (!made) return nullptr;
  new (made) redisReply{};
  made->type = task.type;
  if (task.parent) static_cast<redisReply*>(task.parent->obj)->element[task.idx] = made;
  return made;
}

void* make_string(const redisReadTask* task, char* text, std::size_t size) noexcept {
  auto* made = make_reply(*task);
  auto* copy = made ? allocate<char>(*task, size + 1) : nullptr;
  if (!copy) return nullptr;
  std::memcpy(copy, text, size);
  copy[size] = '\0';
  made->str = copy;
  made->len = size;
  return made;
}

/// `Length`: hiredis 0.14 has int there, later ones std::size_t.
template <class Length>
void* make_array(const redisReadTask* task, Length length) noexcept {
  const auto size = static_cast<std::size_t>(length);
  auto* made = size <= longest_reply_array ? make_reply(*task) : nullptr;
  auto* elements = made ? allocate<redisReply*>(*task, size) : nullptr;
  if (!elements) return nullptr;
  std::memset(elements, 0, size * sizeof(redisReply*));
  made->element = elements;
  made->elements = size;
  return made;
}

void* make_integer(const redisReadTask* task, long long value) noexcept {
  auto* made = make_reply(*task);
  if (made) made->integer = value;
  return made;
}

/// The task is that of the string or array that is not there.
void* make_nil(const redisReadTask* task) noexcept {
  auto* made = make_reply(*task);
  if (made) made->type = REDIS_REPLY_NIL;
  return made;
}

/// Later versions of hiredis know types of a protocol that is never asked for, and so are refused.
template <class Functions>
void refuse_later_types(Functions& to) {
  if constexpr (requires { to.createDouble; }) {
    to.createDouble = [](const redisReadTask*, double, char*, std::size_t) -> void* { return nullptr; };
    to.createBool = [](const redisReadTask*, int) -> void* { return nullptr; };
  }
}

redisReplyObjectFunctions make_functions() {
  redisReplyObjectFunctions all{};
  all.createString = &make_string;
  all.createArray = &make_array;
  all.createInteger = &make_integer;
  all.createNil = &make_nil;
  all.freeObject = [](void*) {};  // the memory goes as a whole
  refuse_later_types(all);
  return all;
}

redisReader* make_parser(std::pmr::memory_resource& memory) {
  static auto functions = make_functions();
  auto* made = redisReaderCreateWithFunctions(&functions);
  if (!made) throw std::bad_alloc();
  made->privdata = &memory;
  made->maxbuf = longest_kept_buffer;
  return made;
}

}  // namespace

reply_reader::reply_reader(std::size_t longest)
    : memory_(first_memory_.data(), first_memory_.size()),
      parser_(make_parser(memory_), &redisReaderFree),
      longest_(longest) {}

reply_reader::~reply_reader() = default;

void reply_reader::feed(std::string_view bytes) { redisReaderFeed(parser_.get(), bytes.data(), bytes.size()); }

const redisReply* reply_reader::next() {
  if (is_whole_) memory_.release();
  is_whole_ = false;
  if (is_too_long_) return nullptr;
  void* found = nullptr;
  is_whole_ = redisReaderGetReply(parser_.get(), &found) == REDIS_OK && found != nullptr;
  // What hiredis has not taken yet is the begin of one string or line.
  is_too_long_ = !is_whole_ && parser_->err == REDIS_OK && parser_->len - parser_->pos > longest_;
  return is_whole_ ? static_cast<const redisReply*>(found) : nullptr;
}

std::string reply_reader::problem() const {
  if (is_too_long_) return "a string or line of a reply has more than " + std::to_string(longest_) + " bytes";
  if (parser_->err == REDIS_OK) return {};
  return parser_->err == REDIS_ERR_OOM ? "a reply takes too much memory" : parser_->errstr;
}

}  // namespace zkrecipes::detail
