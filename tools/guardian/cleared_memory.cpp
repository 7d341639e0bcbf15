// Every block that C++ code frees is overwritten first, because passwords are copied on their way: by the reader of
// JSON, by strings that grow, by Asio. The program is linked with this file; its tests are not.
#include <cstdlib>
#include <new>

#include <malloc.h>
#include <string.h>

namespace {

void* allocate(std::size_t size) {
  if (void* block = std::malloc(size ? size : 1)) return block;
  throw std::bad_alloc();
}

void release(void* block) noexcept {
  if (block) ::explicit_bzero(block, ::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
// That of the library would call the first; that of a sanitizer has blocks of its own, which `release` must not free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size ? size : 1); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
