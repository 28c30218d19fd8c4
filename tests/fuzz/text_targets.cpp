#include <array>
#include <optional>
#include <stdexcept>

#include "engines/lint.h"
#include "json/parse.h"
#include "json/toml.h"
#include "json/yaml.h"
#include "requests/tree_reader.h"
#include "targets.h"
#include "text/csv.h"
#include "text/plain_text.h"

namespace treeline::fuzz {
namespace {

void read_json(std::string_view bytes) {
    const json::Parsed strict = json::parse_strictly(bytes);
    const auto foreign = json::parse_foreign<nlohmann::json>(bytes);
    // What the strict reader takes is JSON. Written and read again it is the same.
    if (strict.failure.empty()) {
        if (!foreign || json::parse_strictly(strict.tree.dump()).tree != strict.tree) {
            throw std::logic_error("the two readers of JSON disagree");
        }
    }
}

void read_yaml(std::string_view bytes) {
    const json::ParsedYaml parsed = json::parse_yaml(std::string(bytes));
    if (!parsed.failure.empty() && !parsed.tree.is_null()) {
        throw std::logic_error("a tree of a YAML that was refused");
    }
}

void read_toml(std::string_view bytes) {
    const json::ParsedToml parsed = json::parse_toml(bytes);
    if (parsed.failure.empty() != parsed.tree.is_object()) {
        throw std::logic_error("a tree of a TOML that was refused, or none of one that was read");
    }
    static_cast<void>(parsed.tree.dump());
}

void read_csv(std::string_view bytes) {
    text::CsvReader reader(bytes);
    while (reader.next()) {
        for (const std::string& field : reader.fields()) {
            if (text::as_utf8(field) != field) {
                throw std::logic_error("a field that is not UTF-8");
            }
        }
    }
    const std::string plain = text::without_controls(bytes);
    if (text::without_controls(plain) != plain) {
        throw std::logic_error("a control character stays");
    }
}

void read_lint(std::string_view bytes) {
    static_cast<void>(engines::lint(std::string(bytes), std::nullopt, [](const std::string&) { return std::nullopt; }));
}

void read_tree(std::string_view bytes) { static_cast<void>(requests::read_tree(std::string(bytes), {}, std::nullopt)); }

}  // namespace

std::span<const Target> text_targets() {
    static constexpr std::array<Target, 6> all = {{{"json", read_json},
                                                   {"yaml", read_yaml},
                                                   {"toml", read_toml},
                                                   {"csv", read_csv},
                                                   {"lint", read_lint},
                                                   {"tree", read_tree}}};
    return all;
}

}  // namespace treeline::fuzz
