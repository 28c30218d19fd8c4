// The header of a GGUF file (docs/gguf.md of ggml): what the model is, and every tensor's name, shape and type. The weights
// behind it are not read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/ggml_types.h"

namespace treeline::models::gguf {

struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;  ///< columns, rows, matrices; at least one
    const sim::GgmlType* type = nullptr;

    [[nodiscard]] double elements() const;
    [[nodiscard]] double bytes() const { return elements() * type->bits() / 8.0; }
    /// 1 where the shape has no such dimension.
    [[nodiscard]] std::int64_t extent(std::size_t dimension) const;
};

/// Values by key. Lists of texts (a vocabulary) are not kept, but for how long they are.
class Metadata {
public:
    using Value = std::variant<double, std::string, std::vector<double>>;

    /// False where the key was there before.
    bool add(std::string key, Value value) { return values_.emplace(std::move(key), std::move(value)).second; }
    void note_length(const std::string& key, double length) { lengths_[key] = length; }

    [[nodiscard]] std::optional<double> number(std::string_view key) const;
    /// Of a layer: an element of a list, or the one number of all.
    [[nodiscard]] std::optional<double> number_of_layer(std::string_view key, std::size_t layer) const;
    [[nodiscard]] std::string text(std::string_view key) const;
    [[nodiscard]] bool is_list(std::string_view key) const;
    /// Elements of a list; 0 where there is none.
    [[nodiscard]] double length(std::string_view key) const;

private:
    [[nodiscard]] const Value* find(std::string_view key) const;

    std::map<std::string, Value, std::less<>> values_;
    std::map<std::string, double, std::less<>> lengths_;
};

struct Header {
    Metadata metadata;
    std::vector<Tensor> tensors;
};

/// Reads as far as the tensors' descriptions; `size` bytes are there, and `name` stands for the file in messages. Throws
/// InputError with one sentence for anything that is no such header: a file that is cut off, counts and lengths beyond what
/// the file holds, types that no llama.cpp writes.
Header read_header(std::istream& bytes, std::uintmax_t size, const std::string& name);

/// The header of a file, and of its parts where it is the first of several ("model-00001-of-00003.gguf").
Header load_header(const std::filesystem::path& path);

}  // namespace treeline::models::gguf
