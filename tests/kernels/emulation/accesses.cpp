// The compiler's calls at each access to memory (-fsanitize=thread, -fsanitize=alignment) in the kernels' sources: the
// sanitizers' own libraries are not linked, these functions stand in for them.
#include <algorithm>

#include "device_memory.h"
#include "shared_memory.h"

namespace emulation {
namespace {

void touch(const void* memory, std::size_t bytes, Touch touch) {
    const std::optional<Toucher> toucher = running_thread();
    if (!toucher || is_on_stack(memory)) {
        return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (!SharedMemory::current().touch(address, bytes, touch, *toucher)) {
        DeviceMemory::all().touch(address, bytes, touch, *toucher);
    }
}

template <class Value>
void apply(Atomic kind, Value* at, Value value) {
    touch(at, sizeof(Value), Touch::atomic);
    *at = kind == Atomic::add ? *at + value : kind == Atomic::smaller ? std::min(*at, value) : std::max(*at, value);
}

}  // namespace

void atomic(Atomic kind, unsigned* at, unsigned value) { apply(kind, at, value); }
void atomic(Atomic kind, int* at, int value) { apply(kind, at, value); }

void raise_flag(unsigned* flag, unsigned value) {
    touch(flag, sizeof(unsigned), Touch::atomic);
    *flag = value;
}
void await_flag(const unsigned* flag, unsigned value, int line) {
    touch(flag, sizeof(unsigned), Touch::atomic);
    wait_for_flag(flag, value, line);
}

}  // namespace emulation

using emulation::Touch;
using emulation::touch;

extern "C" {

void __tsan_init() {}
void __tsan_vptr_update(void** /*object*/, void* /*table*/) {}

void __tsan_read1(const void* memory) { touch(memory, 1, Touch::read); }
void __tsan_read2(const void* memory) { touch(memory, 2, Touch::read); }
void __tsan_read4(const void* memory) { touch(memory, 4, Touch::read); }
void __tsan_read8(const void* memory) { touch(memory, 8, Touch::read); }
void __tsan_read16(const void* memory) { touch(memory, 16, Touch::read); }
void __tsan_read_range(const void* memory, std::size_t bytes) { touch(memory, bytes, Touch::read); }
void __tsan_write1(void* memory) { touch(memory, 1, Touch::write); }
void __tsan_write2(void* memory) { touch(memory, 2, Touch::write); }
void __tsan_write4(void* memory) { touch(memory, 4, Touch::write); }
void __tsan_write8(void* memory) { touch(memory, 8, Touch::write); }
void __tsan_write16(void* memory) { touch(memory, 16, Touch::write); }
void __tsan_write_range(void* memory, std::size_t bytes) { touch(memory, bytes, Touch::write); }
// What the compiler puts together from smaller accesses need not be aligned; the kernels' own accesses are checked below.
void __tsan_unaligned_read4(const void* memory) { touch(memory, 4, Touch::read); }
void __tsan_unaligned_read8(const void* memory) { touch(memory, 8, Touch::read); }
void __tsan_unaligned_read16(const void* memory) { touch(memory, 16, Touch::read); }
void __tsan_unaligned_write4(void* memory) { touch(memory, 4, Touch::write); }
void __tsan_unaligned_write8(void* memory) { touch(memory, 8, Touch::write); }
void __tsan_unaligned_write16(void* memory) { touch(memory, 16, Touch::write); }

/// Of function-local statics, which only the host has.
char __tsan_atomic8_load(const char* at, int /*order*/) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }

/// A pointer that is not a multiple of its type's alignment: on a device the access faults.
__attribute__((visibility("hidden"))) void __ubsan_handle_type_mismatch_v1(void* /*type*/, void* /*pointer*/) {
    if (emulation::running_thread()) {
        emulation::fail("touches memory that is not aligned to the type of the access");
    }
}
}
