#include "models/gguf/header.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

#include "text/file_roles.h"
#include "text/input_error.h"

namespace treeline::models::gguf {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are read as they lie");

constexpr std::uint64_t most_keys = 1u << 16, most_tensors = 1u << 18, most_parts = 1024;
constexpr std::uint64_t longest_text = 16u << 20, longest_name = 1024, longest_kept_list = 4096, longest_list = 1u << 24;
constexpr double most_elements = 1e15;

/// Types of values, by their number in the file.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

class Source {
public:
    Source(std::istream& bytes, std::uintmax_t left, std::string name) : bytes_(bytes), left_(left), name_(std::move(name)) {}

    [[noreturn]] void fail(const std::string& why) const { throw text::InputError({name_ + ": " + why}); }

    template <class T>
    T read() {
        std::array<char, sizeof(T)> raw{};
        take(raw.data(), raw.size());
        T value{};
        std::memcpy(&value, raw.data(), raw.size());
        return value;
    }

    std::string text(std::uint64_t longest) {
        const auto length = read<std::uint64_t>();
        if (length > longest) {
            fail("its header claims a text of " + std::to_string(length) + " bytes");
        }
        if (length > left_) {
            fail("ends within its header");
        }
        std::string value(static_cast<std::size_t>(length), '\0');
        take(value.data(), value.size());
        return value;
    }

    void skip(std::uint64_t count) {
        if (count > left_) {
            fail("ends within its header");
        }
        bytes_.ignore(static_cast<std::streamsize>(count));
        left_ -= count;
    }

    /// A count of things of which each takes at least `least` bytes.
    std::uint64_t count(std::uint64_t most, std::uint64_t least, const char* of) {
        const auto value = read<std::uint64_t>();
        if (value > most) {
            fail("its header claims " + std::to_string(value) + " " + of);
        }
        if (value > left_ / least) {
            fail("ends within its header, which claims " + std::to_string(value) + " " + of);
        }
        return value;
    }

private:
    void take(char* to, std::size_t count) {
        if (count > left_ || !bytes_.read(to, static_cast<std::streamsize>(count))) {
            fail("ends within its header");
        }
        left_ -= count;
    }

    std::istream& bytes_;
    std::uintmax_t left_;
    std::string name_;
};

std::optional<std::uint64_t> width_of(ValueType type) {
    switch (type) {
        case ValueType::u8:
        case ValueType::i8:
        case ValueType::boolean:
            return 1;
        case ValueType::u16:
        case ValueType::i16:
            return 2;
        case ValueType::u32:
        case ValueType::i32:
        case ValueType::f32:
            return 4;
        case ValueType::u64:
        case ValueType::i64:
        case ValueType::f64:
            return 8;
        default:
            return std::nullopt;
    }
}

double read_number(Source& source, ValueType type) {
    switch (type) {
        case ValueType::u8:
        case ValueType::boolean:
            return source.read<std::uint8_t>();
        case ValueType::i8:
            return source.read<std::int8_t>();
        case ValueType::u16:
            return source.read<std::uint16_t>();
        case ValueType::i16:
            return source.read<std::int16_t>();
        case ValueType::u32:
            return source.read<std::uint32_t>();
        case ValueType::i32:
            return source.read<std::int32_t>();
        case ValueType::f32:
            return static_cast<double>(source.read<float>());
        case ValueType::u64:
            return static_cast<double>(source.read<std::uint64_t>());
        case ValueType::i64:
            return static_cast<double>(source.read<std::int64_t>());
        default:
            return source.read<double>();
    }
}

void read_list(Source& source, const std::string& key, Metadata& metadata) {
    const auto type = static_cast<ValueType>(source.read<std::uint32_t>());
    const std::optional<std::uint64_t> width = width_of(type);
    if (!width && type != ValueType::text) {
        source.fail("its key " + key + " holds a list of values of an unknown type");
    }
    const std::uint64_t count = source.count(longest_list, width.value_or(8), "values");
    metadata.note_length(key, static_cast<double>(count));
    if (!width) {
        for (std::uint64_t i = 0; i < count; ++i) {
            source.skip(source.read<std::uint64_t>());
        }
        return;
    }
    if (count > longest_kept_list) {
        source.skip(count * *width);
        return;
    }
    std::vector<double> values;
    for (std::uint64_t i = 0; i < count; ++i) {
        values.push_back(read_number(source, type));
    }
    metadata.add(key, std::move(values));
}

void read_value(Source& source, Metadata& metadata) {
    const std::string key = source.text(longest_name);
    const auto type = static_cast<ValueType>(source.read<std::uint32_t>());
    if (type == ValueType::list) {
        read_list(source, key, metadata);
        return;
    }
    if (type != ValueType::text && !width_of(type)) {
        source.fail("its key " + key + " has a value of an unknown type");
    }
    const bool added =
        type == ValueType::text ? metadata.add(key, source.text(longest_text)) : metadata.add(key, read_number(source, type));
    if (!added) {
        source.fail("its key " + key + " occurs twice");
    }
}

Tensor read_tensor(Source& source) {
    Tensor tensor;
    tensor.name = source.text(longest_name);
    const auto dimensions = source.read<std::uint32_t>();
    if (dimensions < 1 || dimensions > 4) {
        source.fail("its tensor " + tensor.name + " has " + std::to_string(dimensions) + " dimensions");
    }
    for (std::uint32_t i = 0; i < dimensions; ++i) {
        tensor.shape.push_back(source.read<std::uint64_t>());
    }
    if (const double elements = tensor.elements(); elements < 1.0 || elements > most_elements) {
        source.fail("its tensor " + tensor.name + " has an absurd shape");
    }
    const auto type = source.read<std::uint32_t>();
    tensor.type = sim::ggml_type_of(type);
    if (tensor.type == nullptr) {
        source.fail("its tensor " + tensor.name + " is stored in type " + std::to_string(type) + ", which is not known");
    }
    source.skip(sizeof(std::uint64_t));  // where its data begins
    return tensor;
}

/// The file of part `part` (from 1) of those that "…-00001-of-00003.gguf" names; empty where it is not named so.
std::filesystem::path part_of(const std::filesystem::path& first, std::uint64_t part) {
    constexpr std::size_t digits = 5;
    std::string name = first.filename().string();
    const std::size_t of = name.rfind("-of-");
    if (of == std::string::npos || of < digits) {
        return {};
    }
    std::string number = std::to_string(part);
    number.insert(0, digits - std::min(digits, number.size()), '0');
    name.replace(of - digits, digits, number);
    return first.parent_path() / name;
}

Header load_one(const std::filesystem::path& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) {
        throw text::InputError({path.string() + " cannot be opened"});
    }
    text::note_input(path);
    return read_header(file, size, path.string());
}

}  // namespace

double Tensor::elements() const {
    double product = 1.0;
    for (const std::uint64_t extent : shape) {
        product *= static_cast<double>(extent);
    }
    return product;
}

std::int64_t Tensor::extent(std::size_t dimension) const {
    return dimension < shape.size() ? static_cast<std::int64_t>(shape[dimension]) : 1;
}

const Metadata::Value* Metadata::find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
}

std::optional<double> Metadata::number(std::string_view key) const {
    const Value* value = find(key);
    const double* number = value != nullptr ? std::get_if<double>(value) : nullptr;
    return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

std::optional<double> Metadata::number_of_layer(std::string_view key, std::size_t layer) const {
    const Value* value = find(key);
    const auto* list = value != nullptr ? std::get_if<std::vector<double>>(value) : nullptr;
    if (list == nullptr) {
        return number(key);
    }
    return layer < list->size() && std::isfinite((*list)[layer]) ? std::optional((*list)[layer]) : std::nullopt;
}

std::string Metadata::text(std::string_view key) const {
    const Value* value = find(key);
    const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    return text != nullptr ? *text : "";
}

bool Metadata::is_list(std::string_view key) const {
    const Value* value = find(key);
    return value != nullptr && std::holds_alternative<std::vector<double>>(*value);
}

double Metadata::length(std::string_view key) const {
    const auto found = lengths_.find(key);
    return found == lengths_.end() ? 0.0 : found->second;
}

Header read_header(std::istream& bytes, std::uintmax_t size, const std::string& name) {
    Source source(bytes, size, name);
    constexpr std::array<char, 4> magic = {'G', 'G', 'U', 'F'};
    if (size < magic.size() || source.read<std::array<char, 4>>() != magic) {
        source.fail("is not a GGUF file");
    }
    const auto version = source.read<std::uint32_t>();
    if (version != 2 && version != 3) {
        source.fail("is a GGUF file of version " + std::to_string(version) + "; versions 2 and 3 are read");
    }
    constexpr std::uint64_t least_tensor = 32, least_key = 13;
    const std::uint64_t tensors = source.count(most_tensors, least_tensor, "tensors");
    const std::uint64_t keys = source.count(most_keys, least_key, "keys");
    Header header;
    for (std::uint64_t i = 0; i < keys; ++i) {
        read_value(source, header.metadata);
    }
    for (std::uint64_t i = 0; i < tensors; ++i) {
        header.tensors.push_back(read_tensor(source));
    }
    return header;
}

Header load_header(const std::filesystem::path& path) {
    Header header = load_one(path);
    const double parts = header.metadata.number("split.count").value_or(1.0);
    if (!(parts > 1.0 && parts <= static_cast<double>(most_parts))) {
        return header;
    }
    if (header.metadata.number("split.no").value_or(0.0) != 0.0 || part_of(path, 1).empty()) {
        throw text::InputError({path.string() + ": is one of several files of a model; give the first of them"});
    }
    for (std::uint64_t part = 2; part <= static_cast<std::uint64_t>(parts); ++part) {
        Header next = load_one(part_of(path, part));
        header.tensors.insert(header.tensors.end(), next.tensors.begin(), next.tensors.end());
    }
    return header;
}

}  // namespace treeline::models::gguf
