#include "fiber.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

// Six registers are the callee's to keep (System V ABI for x86-64); the return address lies above them.
asm(R"(
    .text
    .globl emulation_switch_stack
    .type emulation_switch_stack, @function
emulation_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulation_switch_stack, .-emulation_switch_stack
)");

namespace emulation {
namespace {

// Odd cache lines apart: at a power of 2, the tops of all stacks would fall on the same few lines of the cache.
constexpr std::size_t stack_bytes = (std::size_t{128} << 10) + 17 * 64;

}  // namespace

Stacks::Stacks(std::size_t count) : bytes_(count * stack_bytes) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    memory_ = static_cast<std::byte*>(memory);
}

Stacks::~Stacks() { munmap(memory_, bytes_); }

void* Stacks::fresh(std::size_t number, void (*entry)()) const {
    // From below: six registers, the address of `entry`, and the return address that a called function finds at a multiple of
    // 16 less 8.
    constexpr std::size_t registers = 6;
    void* words[registers + 2] = {};
    words[registers] = reinterpret_cast<void*>(entry);
    std::byte* pointer = memory_ + (number + 1) * stack_bytes - sizeof(words);
    std::memcpy(pointer, words, sizeof(words));
    return pointer;
}

}  // namespace emulation
