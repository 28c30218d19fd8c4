// Plain structs as bytes and back, on one kind of machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace treeline::sweeps {

class ByteWriter {
public:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    /// How many, then each.
    template <class T>
    void put_all(const std::vector<T>& values) {
        put(static_cast<std::uint64_t>(values.size()));
        for (const T& value : values) {
            put(value);
        }
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// Throws std::invalid_argument where bytes are missing or left over.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        if (rest_.size() < sizeof(T)) {
            throw std::invalid_argument("stored data end too early");
        }
        T value;
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> get_all() {
        const auto count = get<std::uint64_t>();
        if (count > rest_.size() / sizeof(T)) {
            throw std::invalid_argument("stored data end too early");
        }
        std::vector<T> values(static_cast<std::size_t>(count));
        for (T& value : values) {
            value = get<T>();
        }
        return values;
    }
    void finish() const {
        if (!rest_.empty()) {
            throw std::invalid_argument("stored data go on after their end");
        }
    }

private:
    std::string_view rest_;
};

}  // namespace treeline::sweeps
