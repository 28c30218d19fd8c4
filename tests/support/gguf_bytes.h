// The header of a GGUF file as llama.cpp writes it (docs/gguf.md of ggml), put together in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::testing {

class GgufBytes {
public:
    explicit GgufBytes(const std::string& architecture) : architecture_(architecture) {
        text("general.architecture", architecture);
    }

    void text(std::string_view key, std::string_view value) {
        add_key(key, 8);
        add(values_, value);
    }
    /// A whole number under the architecture's own key.
    void count(const std::string& key, std::uint32_t value) {
        add_key(architecture_ + "." + key, 4);
        add(values_, value);
    }
    void counts(const std::string& key, const std::vector<std::uint32_t>& list) {
        add_key(architecture_ + "." + key, 9);
        add(values_, std::uint32_t{4});
        add(values_, std::uint64_t{list.size()});
        for (const std::uint32_t value : list) {
            add(values_, value);
        }
    }
    /// The list of a vocabulary's texts.
    void tokens(const std::vector<std::string>& list) {
        add_key("tokenizer.ggml.tokens", 9);
        add(values_, std::uint32_t{8});
        add(values_, std::uint64_t{list.size()});
        for (const std::string& token : list) {
            add(values_, std::string_view(token));
        }
    }
    void tensor(std::string_view name, const std::vector<std::uint64_t>& shape, std::uint32_t type) {
        ++tensors_;
        add(infos_, name);
        add(infos_, static_cast<std::uint32_t>(shape.size()));
        for (const std::uint64_t extent : shape) {
            add(infos_, extent);
        }
        add(infos_, type);
        add(infos_, std::uint64_t{0});
    }

    [[nodiscard]] std::string bytes(std::uint32_t version = 3) const {
        std::string all = "GGUF";
        add(all, version);
        add(all, tensors_);
        add(all, keys_);
        return all + values_ + infos_;
    }

private:
    void add_key(std::string_view key, std::uint32_t type) {
        ++keys_;
        add(values_, key);
        add(values_, type);
    }
    template <class T>
    static void add(std::string& to, T value) {
        if constexpr (std::is_convertible_v<T, std::string_view>) {
            add(to, std::uint64_t{std::string_view(value).size()});
            to += value;
        } else {
            char raw[sizeof(T)];
            std::memcpy(raw, &value, sizeof(T));
            to.append(raw, sizeof(T));
        }
    }

    std::string architecture_, values_, infos_;
    std::uint64_t keys_ = 0, tensors_ = 0;
};

}  // namespace treeline::testing
