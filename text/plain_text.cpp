#include "text/plain_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace treeline::text {
namespace {

/// The code point that a text begins with, and its bytes; no bytes where it is not UTF-8 (RFC 3629).
struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 0;
};

CodePoint first_of(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return {lead, 1};
    }
    const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                                                             : 0;
    if (length == 0 || text.size() < length) {
        return {};
    }
    char32_t value = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0u) != 0x80u) {
            return {};
        }
        value = (value << 6u) | (byte(i) & 0x3Fu);
    }
    const bool shortest = length == 2 || value >= (length == 3 ? 0x800u : 0x10000u);
    const bool allowed = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    return shortest && allowed ? CodePoint{value, length} : CodePoint{};
}

bool is_control(char32_t c) {
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

bool is_ordinary(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7F) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string without_controls(std::string_view text) {
    if (is_ordinary(text)) {
        return std::string(text);
    }
    std::string plain;
    plain.reserve(text.size());
    while (!text.empty()) {
        const CodePoint point = first_of(text);
        if (point.bytes == 0) {
            plain += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
        } else if (is_control(point.value)) {
            const auto code = static_cast<unsigned>(point.value);
            plain += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
        } else {
            plain += text.substr(0, point.bytes);
        }
        text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
    }
    return plain;
}

std::string json_without_controls(std::string_view json) {
    if (is_ordinary(json)) {
        return std::string(json);
    }
    std::string plain;
    plain.reserve(json.size());
    while (!json.empty()) {
        const CodePoint point = first_of(json);
        const std::size_t bytes = std::max<std::size_t>(1, point.bytes);
        if (point.value >= 0x7F && is_control(point.value)) {
            plain += fmt::format("\\u{:04x}", static_cast<unsigned>(point.value));
        } else {
            plain += json.substr(0, bytes);
        }
        json.remove_prefix(bytes);
    }
    return plain;
}

std::string_view head(std::string_view text, std::size_t longest) {
    const auto goes_on = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u; };
    while (longest > 0 && longest < text.size() && goes_on(longest)) {
        --longest;
    }
    return text.substr(0, longest);
}

std::string as_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const std::size_t bytes = first_of(text).bytes;
        valid += bytes == 0 ? "\xEF\xBF\xBD" : text.substr(0, bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return valid;
}

namespace {

void append_utf8(char32_t c, std::string& text) {
    if (c < 0x80) {
        text += static_cast<char>(c);
        return;
    }
    const int further = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(leads[further] | (c >> (6 * further)));
    for (int i = further - 1; i >= 0; --i) {
        text += static_cast<char>(0x80u | ((c >> (6 * i)) & 0x3Fu));
    }
}

}  // namespace

std::string utf8_of_utf16(std::string_view bytes) {
    const bool little = bytes.starts_with('\xFF');
    const auto unit = [&](std::size_t at) {
        const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
        return static_cast<char32_t>(little ? first | (second << 8u) : (first << 8u) | second);
    };
    constexpr char32_t replacement = 0xFFFD;
    std::string text;
    for (std::size_t at = 2; at + 1 < bytes.size(); at += 2) {
        char32_t c = unit(at);
        if (c >= 0xD800 && c <= 0xDFFF) {
            const char32_t low = c < 0xDC00 && at + 3 < bytes.size() ? unit(at + 2) : 0;
            const bool pair = low >= 0xDC00 && low <= 0xDFFF;
            c = pair ? 0x10000 + ((c - 0xD800) << 10u) + (low - 0xDC00) : replacement;
            at += pair ? 2 : 0;
        }
        append_utf8(c, text);
    }
    return text;
}

}  // namespace treeline::text
