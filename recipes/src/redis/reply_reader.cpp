#include "redis/reply_reader.hpp"

#include <new>

#include <hiredis/hiredis.h>

namespace zkrecipes::detail {

namespace {

redisReplyObjectFunctions default_functions() {
  const reply_reader usual(redisReaderCreate(), &redisReaderFree);
  if (!usual) throw std::bad_alloc();
  return *usual->fn;
}

const redisReplyObjectFunctions& usual_functions() {
  static const auto functions = default_functions();
  return functions;
}

/// `Length`: hiredis 0.14 has int there, later ones std::size_t.
template <class Length>
void* create_bounded_array(const redisReadTask* task, Length length) {
  const bool is_too_long = length > static_cast<Length>(longest_reply_array);
  return is_too_long ? nullptr : usual_functions().createArray(task, length);
}

redisReplyObjectFunctions bounded_functions() {
  auto functions = usual_functions();
  functions.createArray = &create_bounded_array;
  return functions;
}

}  // namespace

reply_reader make_reply_reader() {
  static auto functions = bounded_functions();
  reply_reader made(redisReaderCreateWithFunctions(&functions), &redisReaderFree);
  if (!made) throw std::bad_alloc();
  return made;
}

}  // namespace zkrecipes::detail
