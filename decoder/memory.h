// Memory of one device, counted, and index arrays that the host writes and kernels read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/backend.h"

namespace treeline::decoder {

/// Everything allocated lives as long as this object. All of it starts as zeros: rows that padding leaves unwritten must be
/// finite, since attention multiplies what it does not see by 0.
class Memory {
public:
    Memory(const kernels::Backend& backend, kernels::Queue queue) : backend_(backend), queue_(queue) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    void* allocate(std::size_t bytes);
    template <class Value>
    Value* array(std::size_t count) {
        return static_cast<Value*>(allocate(count * sizeof(Value)));
    }
    /// Rows whose starts are aligned to 64 bytes or more.
    kernels::Rows rows(std::int64_t count, std::int64_t width, kernels::ElementType type);

    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] const kernels::Backend& backend() const { return backend_; }
    [[nodiscard]] kernels::Queue queue() const { return queue_; }

private:
    const kernels::Backend& backend_;
    kernels::Queue queue_;
    std::vector<void*> blocks_;
    std::size_t bytes_ = 0;
};

class IndexTable;

/// An array of an IndexTable: written on the host, read by kernels once the table has been uploaded. Default: none.
class Indices {
public:
    Indices() = default;
    [[nodiscard]] std::span<int> host() const;
    /// For kernels; null if there is none.
    [[nodiscard]] const int* device() const;
    explicit operator bool() const { return table_ != nullptr; }

private:
    friend class IndexTable;
    Indices(IndexTable* table, std::size_t offset, std::size_t count) : table_(table), offset_(offset), count_(count) {}

    IndexTable* table_ = nullptr;
    std::size_t offset_ = 0, count_ = 0;
};

/// All indices of a decoder, moved to the device in one copy. Arrays are added first; the table is allocated when it is first
/// uploaded, and nothing may be added then.
class IndexTable {
public:
    explicit IndexTable(Memory& memory) : memory_(memory) {}
    IndexTable(const IndexTable&) = delete;
    IndexTable& operator=(const IndexTable&) = delete;

    Indices add(std::size_t count);
    /// With these values, which may still be changed.
    Indices add(std::span<const int> values);
    void upload();

private:
    friend class Indices;
    Memory& memory_;
    std::vector<int> host_;
    int* device_ = nullptr;
};

}  // namespace treeline::decoder
